import { hadoop } from './messages.ts'
import { method } from './rpc-protocol.ts'

const { yarn } = hadoop

/** NodeManager to ResourceManager, port 8031. Source: ResourceTracker.proto. */
export const resourceTracker = {
  name: 'org.apache.hadoop.yarn.server.api.ResourceTrackerPB',
  version: 1,
  methods: {
    registerNodeManager: method(yarn.RegisterNodeManagerRequestProto, yarn.RegisterNodeManagerResponseProto),
    nodeHeartbeat: method(yarn.NodeHeartbeatRequestProto, yarn.NodeHeartbeatResponseProto),
    unRegisterNodeManager: method(yarn.UnRegisterNodeManagerRequestProto, yarn.UnRegisterNodeManagerResponseProto),
  },
} as const
