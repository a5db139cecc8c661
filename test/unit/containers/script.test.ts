import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchEnvironment, type EnvironmentSources } from '../../../src/containers/launch/environment.ts'
import { expandMarkers, JDK_17_OPTIONS } from '../../../src/containers/launch/expansion.ts'
import { launchScript } from '../../../src/containers/launch/script.ts'

const sources: EnvironmentSources = {
  requested: [
    { key: 'B', value: '$A' },
    { key: 'A', value: '1' },
    { key: 'CLASSPATH', value: '{{PWD}}<CPS>{{HADOOP_CONF_DIR}}' },
    { key: 'USER', value: 'mallory' },
    { key: 'MALLOC_ARENA_MAX', value: '4' },
  ],
  tokenFile: '/work/container_tokens',
  nodeVariables: [
    ['CONTAINER_ID', 'c'],
    ['USER', 'alice'],
    ['JVM_PID', '$$'],
  ],
  secrets: [['KEYSTORE_PASSWORD', '{{secret}}']],
  daemon: { JAVA_HOME: '/usr/lib/jvm', PATH: '/bin:$odd', MALLOC_ARENA_MAX: '2', LANG: undefined },
  expansions: { logDir: '/logs/c', addOpens: JDK_17_OPTIONS },
}
const options = {
  environmentWhitelist: ['JAVA_HOME', 'PATH', 'LANG', 'MALLOC_ARENA_MAX'],
  adminEnvironment: [{ name: 'MALLOC_ARENA_MAX', value: '$MALLOC_ARENA_MAX' }],
  forcePath: '',
}

test('the script is Hadoop’s, line by line', () => {
  const script = launchScript({
    logDir: '/logs/c',
    environment: launchEnvironment(sources, options),
    links: [
      { target: '/cache/10/a.jar', name: 'a.jar' },
      { target: '/cache/11/b.jar', name: 'lib/b.jar' },
    ],
    commands: ['java', 'Main', '1>/logs/c/stdout'],
    hasDebugInfo: true,
  })
  assert.equal(
    script,
    `#!/bin/bash

set -o pipefail -e
export PRELAUNCH_OUT="/logs/c/prelaunch.out"
exec >"\${PRELAUNCH_OUT}"
export PRELAUNCH_ERR="/logs/c/prelaunch.err"
exec 2>"\${PRELAUNCH_ERR}"
echo "Setting up env variables"
export JAVA_HOME=\${JAVA_HOME:-"/usr/lib/jvm"}
export PATH=\${PATH:-"/bin:\\$odd"}
export HADOOP_TOKEN_FILE_LOCATION="/work/container_tokens"
export CONTAINER_ID="c"
export USER="alice"
export JVM_PID="$$"
export A="1"
export B="$A"
export CLASSPATH="$PWD:$HADOOP_CONF_DIR"
export MALLOC_ARENA_MAX="4:4"
export KEYSTORE_PASSWORD="{{secret}}"
echo "Setting up job resources"
ln -sf -- "/cache/10/a.jar" "a.jar"
mkdir -p lib
ln -sf -- "/cache/11/b.jar" "lib/b.jar"
echo "Copying debugging information"
# Creating copy of launch script
cp "launch_container.sh" "/logs/c/launch_container.sh"
chmod 640 "/logs/c/launch_container.sh"
# Determining directory contents
echo "ls -l:" 1>"/logs/c/directory.info"
ls -l 1>>"/logs/c/directory.info"
echo "find -L . -maxdepth 5 -ls:" 1>>"/logs/c/directory.info"
find -L . -maxdepth 5 -ls 1>>"/logs/c/directory.info"
echo "broken symlinks(find -L . -maxdepth 5 -type l -ls):" 1>>"/logs/c/directory.info"
find -L . -maxdepth 5 -type l -ls 1>>"/logs/c/directory.info"
echo "Launching container"
exec /bin/bash -c "java Main 1>/logs/c/stdout"
`,
  )
})

test('without debug information that block is left out', () => {
  const script = launchScript({
    logDir: '/logs/c',
    environment: { whitelisted: [], ofNode: [], ofContainer: [] },
    links: [],
    commands: [],
    hasDebugInfo: false,
  })
  assert.ok(script.endsWith('echo "Setting up job resources"\necho "Launching container"\nexec /bin/bash -c ""\n'))
})

test('markers are replaced in Hadoop’s order', () => {
  assert.equal(
    expandMarkers('{{JAVA_HOME}}/bin/java <ADD_OPENS> a<CPS>b <LOG_DIR>/x }}', { logDir: '/l$&', addOpens: '' }),
    '$JAVA_HOME/bin/java  a:b /l$&/x ',
  )
})

test('the operator’s path comes before the container’s', () => {
  const pathOf = (requested: EnvironmentSources['requested']) => {
    const { ofContainer } = launchEnvironment({ ...sources, requested }, { ...options, forcePath: '/forced' })
    return new Map(ofContainer).get('PATH')
  }
  assert.equal(pathOf([]), '/forced:$PATH')
  assert.equal(pathOf([{ key: 'PATH', value: '/mine' }]), '/forced:/mine')
})

test('an image that runs its own entry point gets no variables of the node', () => {
  const requested = [
    { key: 'YARN_CONTAINER_RUNTIME_DOCKER_RUN_OVERRIDE_DISABLE', value: 'true' },
    { key: 'WORK_DIR', value: '/x' },
  ]
  const { ofNode, ofContainer } = launchEnvironment({ ...sources, requested, secrets: [] }, options)
  assert.deepEqual(ofNode, [['HADOOP_TOKEN_FILE_LOCATION', '/work/container_tokens']])
  assert.equal(new Map(ofContainer).has('WORK_DIR'), false)
})

test('a chain of variables of any length is ordered', () => {
  const requested = Array.from({ length: 20_000 }, (_, index) => ({ key: `V${index}`, value: `$V${index + 1}` }))
  const { ofContainer } = launchEnvironment({ ...sources, requested }, options)
  assert.equal(ofContainer[0]?.[0], 'V19999')
})
