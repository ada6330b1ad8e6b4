/**
 * The memory of processes that serve calls: whether the limit of a container is enough for the settings, and the flags
 * of V8.
 */

import { setFlagsFromString } from 'node:v8';
import type { Settings } from '../config/schema.ts';

const MIB = 1024 * 1024;
/** Memory of a process under load, apart from large bodies (docs/benchmarks.md). */
const PROCESS_BYTES = 256 * MIB;
/** How many times the memory of its body a call can need. */
const BODY_FACTOR = 3;

interface MemoryShortage {
  limitMiB: number;
  neededMiB: number;
  advice: string;
}

/**
 * `limitBytes`: memory limit of the container; 0, or more than any machine has, if there is no limit. Returns null if
 * the memory is enough.
 */
export function findMemoryShortage(
  limitBytes: number,
  { http, workers }: Pick<Settings, 'http' | 'workers'>,
): MemoryShortage | null {
  const bodiesBytes = Math.max(http.bodiesBytesMax, http.bodyBytesMax);
  const neededBytes = workers * (PROCESS_BYTES + BODY_FACTOR * bodiesBytes);
  if (limitBytes === 0 || limitBytes >= neededBytes) return null;
  const room = Math.floor((limitBytes / workers - PROCESS_BYTES) / BODY_FACTOR / MIB);
  return {
    limitMiB: Math.floor(limitBytes / MIB),
    neededMiB: Math.ceil(neededBytes / MIB),
    advice:
      room < 1
        ? `Raise the memory limit to at least ${Math.ceil((workers * PROCESS_BYTES) / MIB) + BODY_FACTOR * workers * SMALL_MIB} MiB, and set http.bodiesBytesMax and http.bodyBytesMax to ${SMALL_MIB}MiB.`
        : `Raise the memory limit, or set http.bodiesBytesMax to at most ${room}MiB${room * MIB < http.bodyBytesMax ? ', and http.bodyBytesMax too' : ''}.`,
  };
}

/** A maximum size of bodies, in MiB, that is enough for usual calls. */
const SMALL_MIB = 8;

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

/**
 * Sets flags of V8 for a process that serves calls. They apply to all threads of the process. Call it before the code
 * that serves calls is loaded.
 */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
