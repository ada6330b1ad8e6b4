/**
 * Rate limits of keys, exact within one process: the generic cell rate algorithm (GCRA, ITU-T I.371), which stores one
 * number per key.
 */

/** A rate: on average `requests` in `seconds`, and up to `burst` at once. */
export interface Rate {
  requests: number;
  seconds: number;
  burst: number;
}

export type Taken =
  | { ok: true; remaining: number; resetSeconds: number }
  /** `retryAfterSeconds` is null if the rate never allows this number of calls at once. */
  | { ok: false; remaining: number; resetSeconds: number; retryAfterSeconds: number | null };

/** If more keys are stored, keys with a full burst are removed, which does not change their limits. */
const SWEEP_MIN = 1_000;
/** Tolerance for early calls: sums of times are inexact, which must not refuse the last call of a burst. */
const SLACK_MS = 0.001;

export class RateLimiter {
  /** The time at which the burst of each key is full again. */
  readonly #fullAt = new Map<string, number>();
  /** The time at which the burst that all processes share is full again. This limiter may use a share of that burst. */
  readonly #sharedFullAt = new Map<string, number>();
  readonly #nowMs: () => number;
  #sweepAt = SWEEP_MIN;

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Number of stored keys. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes `count` calls from the key's burst, all or none. */
  take(key: string, rate: Rate, count: number): Taken {
    const now = this.#nowMs();
    const fullInMs = Math.max(
      this.#fullInMs(this.#fullAt, key, rate, now),
      this.#fullInMs(this.#sharedFullAt, key, rate, now),
    );
    const after = fullInMs + count * readIntervalMs(rate);
    const isOk = after <= readSpanMs(rate) + SLACK_MS;
    if (isOk) this.#keep(this.#fullAt, key, now + after, now);
    return describeTaken(rate, count, isOk, isOk ? after : fullInMs);
  }

  /** Counts calls that were admitted elsewhere. The burst does not fall below empty. */
  charge(key: string, rate: Rate, count: number): void {
    const now = this.#nowMs();
    const after = this.#fullInMs(this.#fullAt, key, rate, now) + count * readIntervalMs(rate);
    this.#keep(this.#fullAt, key, now + Math.min(after, readSpanMs(rate)), now);
  }

  /**
   * Stores the time after which the burst that all processes share is full again. The share of this limiter is no
   * fuller: the other processes may have used the rest.
   */
  setSharedBurst(key: string, fullInMs: number): void {
    const now = this.#nowMs();
    this.#keep(this.#sharedFullAt, key, now + fullInMs, now);
  }

  /** Milliseconds until the burst is full: at most those of an empty burst, so that a higher rate applies at once. */
  #fullInMs(times: ReadonlyMap<string, number>, key: string, rate: Rate, now: number): number {
    return Math.min(Math.max((times.get(key) ?? now) - now, 0), readSpanMs(rate));
  }

  #keep(times: Map<string, number>, key: string, fullAt: number, now: number): void {
    times.set(key, fullAt);
    if (times.size < this.#sweepAt) return;
    for (const all of [this.#fullAt, this.#sharedFullAt])
      for (const [known, at] of all) if (at <= now) all.delete(known);
    this.#sweepAt = Math.max(SWEEP_MIN, 2 * this.#fullAt.size, 2 * this.#sharedFullAt.size);
  }
}

/** Milliseconds in which the rate adds one call. */
export function readIntervalMs({ requests, seconds }: Rate): number {
  return (seconds * 1000) / requests;
}

/** Milliseconds in which the rate adds a full burst. */
function readSpanMs(rate: Rate): number {
  return rate.burst * readIntervalMs(rate);
}

/** The result for a burst that is full in `fullInMs`, which includes the new calls if these are allowed. */
export function describeTaken(rate: Rate, count: number, isOk: boolean, fullInMs: number): Taken {
  const intervalMs = readIntervalMs(rate);
  const spareMs = readSpanMs(rate) + SLACK_MS - fullInMs;
  const left = {
    remaining: Math.max(0, Math.floor(spareMs / intervalMs)),
    resetSeconds: Math.ceil(fullInMs / 1000),
  };
  if (isOk) return { ok: true, ...left };
  const retryAfterSeconds =
    count > rate.burst ? null : Math.max(1, Math.ceil((count * intervalMs - spareMs) / 1000));
  return { ok: false, ...left, retryAfterSeconds };
}
