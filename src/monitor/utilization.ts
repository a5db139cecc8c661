/** Memory in MB and processors in use, of the containers together or of the node. Source: ResourceUtilization. */
export interface Utilization {
  readonly pmemMb: number
  readonly vmemMb: number
  /** Virtual cores for the containers; processors for the node, as Java counts them. */
  readonly vcores: number
}

export const NOTHING_IN_USE: Utilization = { pmemMb: 0, vmemMb: 0, vcores: 0 }
