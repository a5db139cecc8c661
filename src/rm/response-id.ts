/**
 * Of the answer that follows, to a node or a master: a repeated call is told by the id of the last answer it has.
 * Source: ResourceTrackerService.getNextResponseId, ApplicationMasterServiceUtils.
 */
export function nextResponseId(id: number): number {
  return (id + 1) & 0x7fffffff
}
