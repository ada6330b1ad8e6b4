/** Flags of V8 for a process that serves calls. They apply to all threads of the process. */
import { setFlagsFromString } from 'node:v8';

const FLAGS = [
  // V8 lets 64 MiB of unused read buffers accumulate before it collects them: more than a long result may add. V8
  // derives this bound from the flag (4 gives 16 MiB). The existing heap does not shrink.
  '--scavenger-max-new-space-capacity-mb=4',
  // The space for young objects starts with 1 MiB. V8 rarely doubles it, and shrinks it when idle. Each collection then
  // frees the garbage of some forty calls only, which takes a fifth of their processor time. With this flag, the space
  // grows to its maximum, 16 MiB, at once.
  '--semi-space-growth-factor=16',
  // After an idle time, V8 collects the old space as soon as it has grown by a tenth, which takes some hundred calls
  // with large answers. With this flag, V8 always lets it double first, also where V8 would allow more
  // (docs/decisions/0026-garbage-and-wake-ups.md).
  '--heap-growing-percent=100',
  // Under load, most objects of some kinds survive one collection. V8 would then allocate later objects of these kinds
  // in the old space, where each keeps its call in memory (docs/decisions/0026-garbage-and-wake-ups.md).
  '--no-allocation-site-pretenuring',
];

/** Sets the flags. Call it before the code that serves calls is loaded. */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
