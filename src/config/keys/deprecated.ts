/** Old name, new name. A value under the old name is stored under the new one, and both read the same. */
export const deprecatedKeys: Readonly<Record<string, string>> = {
  'fs.default.name': 'fs.defaultFS',
  'dfs.umask': 'fs.permissions.umask-mode',
  'dfs.umaskmode': 'fs.permissions.umask-mode',
  'topology.script.file.name': 'net.topology.script.file.name',
  'yarn.client.max-nodemanagers-proxies': 'yarn.client.max-cached-nodemanagers-proxies',
  'yarn.resourcemanager.display.per-user-apps': 'yarn.webapp.filter-entity-list-by-user',
  'yarn.resourcemanager.system-metrics-publisher.enabled': 'yarn.system-metrics-publisher.enabled',
  'yarn.resourcemanager.zk-acl': 'hadoop.zk.acl',
  'yarn.resourcemanager.zk-address': 'hadoop.zk.address',
  'yarn.resourcemanager.zk-auth': 'hadoop.zk.auth',
  'yarn.resourcemanager.zk-num-retries': 'hadoop.zk.num-retries',
  'yarn.resourcemanager.zk-retry-interval-ms': 'hadoop.zk.retry-interval-ms',
  'yarn.resourcemanager.zk-timeout-ms': 'hadoop.zk.timeout-ms',
}
