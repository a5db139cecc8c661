import { hadoop } from './messages.ts'
import { method } from './rpc-protocol.ts'

const { yarn } = hadoop

/** ApplicationMasters and the ResourceManager to the NodeManager. Source: containermanagement_protocol.proto. */
export const containerManagement = {
  name: 'org.apache.hadoop.yarn.api.ContainerManagementProtocolPB',
  version: 1,
  methods: {
    startContainers: method(yarn.StartContainersRequestProto, yarn.StartContainersResponseProto),
    stopContainers: method(yarn.StopContainersRequestProto, yarn.StopContainersResponseProto),
    getContainerStatuses: method(yarn.GetContainerStatusesRequestProto, yarn.GetContainerStatusesResponseProto),
    increaseContainersResource: method(
      yarn.IncreaseContainersResourceRequestProto,
      yarn.IncreaseContainersResourceResponseProto,
    ),
    updateContainer: method(yarn.ContainerUpdateRequestProto, yarn.ContainerUpdateResponseProto),
    signalToContainer: method(yarn.SignalContainerRequestProto, yarn.SignalContainerResponseProto),
    localize: method(yarn.ResourceLocalizationRequestProto, yarn.ResourceLocalizationResponseProto),
    reInitializeContainer: method(yarn.ReInitializeContainerRequestProto, yarn.ReInitializeContainerResponseProto),
    restartContainer: method(yarn.ContainerIdProto, yarn.RestartContainerResponseProto),
    rollbackLastReInitialization: method(yarn.ContainerIdProto, yarn.RollbackResponseProto),
    commitLastReInitialization: method(yarn.ContainerIdProto, yarn.CommitResponseProto),
    getLocalizationStatuses: method(
      yarn.GetLocalizationStatusesRequestProto,
      yarn.GetLocalizationStatusesResponseProto,
    ),
  },
} as const
