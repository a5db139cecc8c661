import { used } from './row.ts'

/** Keys that only Bobbin has. */
export const bobbinKeys = {
  'bobbin.hadoop-version': used('string', '3.4.2', 'The Hadoop version that the ResourceManager is told.'),
  'bobbin.jvm-heap-mb': used(
    'int MB',
    '1000',
    'Heap of the Java NodeManager in its memory formula, so that detection offers what that one would.',
    { min: 0 },
  ),
  'bobbin.rm-unreachable-exit-code': used(
    'int',
    '75',
    'Exit code when the ResourceManager could not be reached for the configured wait; Hadoop ends with 0.',
    { min: 0, max: 255 },
  ),
  'bobbin.work.dir': used(
    'path',
    '${java.io.tmpdir}/bobbin-${user.name}',
    'Where directories lie that nothing else places, and all of those of bobbin standalone.',
  ),
} as const
