/** Flags of V8 for a process that serves calls. All threads of the process have them. */
import { setFlagsFromString } from 'node:v8';

const FLAGS = [
  // V8 lets 64 MiB of unused read buffers accumulate before it collects them: more than a long result may add. V8
  // derives the bound from this flag (4 gives 16 MiB). The existing heap does not shrink.
  '--scavenger-max-new-space-capacity-mb=4',
  // The space for young objects starts with 1 MiB, and V8 doubles it seldom and shrinks it at rest. Each collection
  // then frees the garbage of some forty calls, which takes a fifth of their processor time. So it grows to its
  // maximum, 16 MiB, at the first occasion.
  '--semi-space-growth-factor=16',
  // After a rest, V8 lets the old space grow by a tenth only before it collects it, and large answers bring it there
  // after some hundred calls. It always doubles instead, also where V8 would let it grow more
  // (docs/decisions/0026-garbage-and-wake-ups.md).
  '--heap-growing-percent=100',
  // Under load, most objects of some kinds survive one collection. V8 would then create all later ones of these kinds
  // in the old space, where each keeps its call (docs/decisions/0026-garbage-and-wake-ups.md).
  '--no-allocation-site-pretenuring',
];

/** Sets the flags. Call it before the code that serves calls is loaded. */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
