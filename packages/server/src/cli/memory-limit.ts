/**
 * Whether the memory that a container may use is enough for the settings. The kernel kills a process that exceeds it,
 * with all its calls. Pure.
 */
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
