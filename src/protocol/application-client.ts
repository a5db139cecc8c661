import { hadoop } from './messages.ts'
import { method } from './rpc-protocol.ts'

const { yarn, common } = hadoop

/** Clients to the ResourceManager, port 8032; without the reservation calls. Source: applicationclient_protocol.proto. */
export const applicationClient = {
  name: 'org.apache.hadoop.yarn.api.ApplicationClientProtocolPB',
  version: 1,
  methods: {
    getNewApplication: method(yarn.GetNewApplicationRequestProto, yarn.GetNewApplicationResponseProto),
    getApplicationReport: method(yarn.GetApplicationReportRequestProto, yarn.GetApplicationReportResponseProto),
    submitApplication: method(yarn.SubmitApplicationRequestProto, yarn.SubmitApplicationResponseProto),
    failApplicationAttempt: method(yarn.FailApplicationAttemptRequestProto, yarn.FailApplicationAttemptResponseProto),
    forceKillApplication: method(yarn.KillApplicationRequestProto, yarn.KillApplicationResponseProto),
    getClusterMetrics: method(yarn.GetClusterMetricsRequestProto, yarn.GetClusterMetricsResponseProto),
    getApplications: method(yarn.GetApplicationsRequestProto, yarn.GetApplicationsResponseProto),
    getClusterNodes: method(yarn.GetClusterNodesRequestProto, yarn.GetClusterNodesResponseProto),
    getQueueInfo: method(yarn.GetQueueInfoRequestProto, yarn.GetQueueInfoResponseProto),
    getQueueUserAcls: method(yarn.GetQueueUserAclsInfoRequestProto, yarn.GetQueueUserAclsInfoResponseProto),
    getDelegationToken: method(common.GetDelegationTokenRequestProto, common.GetDelegationTokenResponseProto),
    renewDelegationToken: method(common.RenewDelegationTokenRequestProto, common.RenewDelegationTokenResponseProto),
    cancelDelegationToken: method(common.CancelDelegationTokenRequestProto, common.CancelDelegationTokenResponseProto),
    moveApplicationAcrossQueues: method(
      yarn.MoveApplicationAcrossQueuesRequestProto,
      yarn.MoveApplicationAcrossQueuesResponseProto,
    ),
    getApplicationAttemptReport: method(
      yarn.GetApplicationAttemptReportRequestProto,
      yarn.GetApplicationAttemptReportResponseProto,
    ),
    getApplicationAttempts: method(yarn.GetApplicationAttemptsRequestProto, yarn.GetApplicationAttemptsResponseProto),
    getContainerReport: method(yarn.GetContainerReportRequestProto, yarn.GetContainerReportResponseProto),
    getContainers: method(yarn.GetContainersRequestProto, yarn.GetContainersResponseProto),
    getNodeToLabels: method(yarn.GetNodesToLabelsRequestProto, yarn.GetNodesToLabelsResponseProto),
    getLabelsToNodes: method(yarn.GetLabelsToNodesRequestProto, yarn.GetLabelsToNodesResponseProto),
    getClusterNodeLabels: method(yarn.GetClusterNodeLabelsRequestProto, yarn.GetClusterNodeLabelsResponseProto),
    updateApplicationPriority: method(
      yarn.UpdateApplicationPriorityRequestProto,
      yarn.UpdateApplicationPriorityResponseProto,
    ),
    signalToContainer: method(yarn.SignalContainerRequestProto, yarn.SignalContainerResponseProto),
    updateApplicationTimeouts: method(
      yarn.UpdateApplicationTimeoutsRequestProto,
      yarn.UpdateApplicationTimeoutsResponseProto,
    ),
    getResourceProfiles: method(yarn.GetAllResourceProfilesRequestProto, yarn.GetAllResourceProfilesResponseProto),
    getResourceProfile: method(yarn.GetResourceProfileRequestProto, yarn.GetResourceProfileResponseProto),
    getResourceTypeInfo: method(yarn.GetAllResourceTypeInfoRequestProto, yarn.GetAllResourceTypeInfoResponseProto),
    getClusterNodeAttributes: method(
      yarn.GetClusterNodeAttributesRequestProto,
      yarn.GetClusterNodeAttributesResponseProto,
    ),
    getAttributesToNodes: method(yarn.GetAttributesToNodesRequestProto, yarn.GetAttributesToNodesResponseProto),
    getNodesToAttributes: method(yarn.GetNodesToAttributesRequestProto, yarn.GetNodesToAttributesResponseProto),
  },
} as const
