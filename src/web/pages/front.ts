import type { NodeView } from '../views.ts'

const CALLS = ['/ws/v1/node/info', '/ws/v1/node/apps', '/ws/v1/node/containers']

/** `/`: what this node is, and where the REST answers are. */
export function frontPage(node: NodeView): string {
  const health = node.health.isHealthy ? 'healthy' : `unhealthy: ${node.health.report}`
  const links = CALLS.map((path) => `<li><a href="${path}">${path}</a></li>`)
  return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>NodeManager ${escapeHtml(node.nodeId)}</title>
<h1>NodeManager ${escapeHtml(node.nodeId)}</h1>
<p>Bobbin ${escapeHtml(node.productVersion)}, announced as Hadoop ${escapeHtml(node.hadoopVersion)}; ${escapeHtml(health)}</p>
<ul>
${links.join('\n')}
</ul>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
