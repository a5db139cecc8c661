import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeId } from '../../../src/protocol/ids.ts'
import { nodeInfo } from '../../../src/web/rest/node-info.ts'

test("virtual memory is computed in Java's 32-bit floats", () => {
  const vmem = (memoryMb: number, vmemPmemRatio: number) =>
    (
      nodeInfo({
        nodeId: nodeId('h', 1),
        resource: { memoryMb, vcores: 1 },
        health: { isHealthy: true, report: '', lastReportTime: 0 },
        vmemPmemRatio,
        isPmemCheckEnabled: true,
        isVmemCheckEnabled: true,
        hadoopVersion: '3.4.2',
        productVersion: '0.1.0',
        startTime: 0,
      }) as { nodeInfo: { totalVmemAllocatedContainersMB: number } }
    ).nodeInfo.totalVmemAllocatedContainersMB
  // Java: (long) (2.1f * (8192L << 20)) >> 20 and so on.
  assert.deepEqual([vmem(8192, 2.1), vmem(10, 2.1), vmem(1000, 2.1), vmem(123_457, 2.1)], [17203, 21, 2100, 259259])
})
