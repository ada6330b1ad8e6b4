/** The clock of the SQLite thread, and the sign by which the main thread notices that it is blocked. */

/**
 * When the thread was last seen alive, in memory that it shares with the main thread, so that a blocked thread is
 * noticed. A message instead would wake the idle main thread.
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
 * Interval of everything that the thread does at rest, because each interval wakes the idle process. A process notices
 * the changes of others within a second.
 */
export const BEAT_INTERVAL_MS = 700;

/** A monotonic clock that is the same in all threads of the process. */
export function readMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1_000_000;
}
