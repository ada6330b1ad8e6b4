/**
 * The clock and the heartbeat of the SQLite thread, by which the main thread notices that the SQLite thread is blocked.
 */

/**
 * Time of the last sign of life of the thread, in memory that it shares with the main thread. A message instead would
 * wake the idle main thread.
 */
export class Heartbeat {
  readonly memory: SharedArrayBuffer;
  readonly #monotonicMs: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#monotonicMs = new BigInt64Array(memory);
  }

  beat(): void {
    Atomics.store(this.#monotonicMs, 0, BigInt(Math.floor(readMonotonicMs())));
  }

  get ageMs(): number {
    return readMonotonicMs() - Number(Atomics.load(this.#monotonicMs, 0));
  }
}

/**
 * Interval of all tasks of an idle thread, because each interval wakes the idle process. Below a second, within which a
 * process must notice the changes of others.
 */
export const BEAT_INTERVAL_MS = 700;

/** A monotonic clock that is the same in all threads of the process. */
export function readMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1_000_000;
}
