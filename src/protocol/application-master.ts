import { hadoop } from './messages.ts'
import { method } from './rpc-protocol.ts'

const { yarn } = hadoop

/** ApplicationMasters to the ResourceManager, port 8030. Source: applicationmaster_protocol.proto. */
export const applicationMaster = {
  name: 'org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB',
  version: 1,
  methods: {
    registerApplicationMaster: method(
      yarn.RegisterApplicationMasterRequestProto,
      yarn.RegisterApplicationMasterResponseProto,
    ),
    finishApplicationMaster: method(
      yarn.FinishApplicationMasterRequestProto,
      yarn.FinishApplicationMasterResponseProto,
    ),
    allocate: method(yarn.AllocateRequestProto, yarn.AllocateResponseProto),
  },
} as const
