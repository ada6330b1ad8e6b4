/**
 * How many calls a key may make in a time, exact within one process: the generic cell rate algorithm (ITU-T I.371), which
 * keeps one number a key. Knows neither keys nor HTTP.
 */

/** `requests` in any span of `seconds` on average, `burst` of them at once. */
export interface Rate {
  requests: number;
  seconds: number;
  burst: number;
}

export type Taken =
  | { ok: true; remaining: number; resetSeconds: number }
  /** `retryAfterSeconds` is null where so many can never be had at once. */
  | { ok: false; remaining: number; resetSeconds: number; retryAfterSeconds: number | null };

/** Beyond so many keys those that have their whole burst again are forgotten, which changes nothing for them. */
const SWEEP_MIN = 1_000;
/** A call may be so much early: sums of times are not exact, and the last call of a burst is not to fail for that. */
const SLACK_MS = 0.001;

export class RateLimiter {
  /** By key, the time at which its burst is whole again. */
  readonly #wholeAt = new Map<string, number>();
  readonly #nowMs: () => number;
  #sweepAt = SWEEP_MIN;

  /** A clock that never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#wholeAt.size;
  }

  /** Takes `count` calls of the key's, all or none. */
  take(key: string, rate: Rate, count: number): Taken {
    const now = this.#nowMs();
    const wholeInMs = this.#wholeInMs(key, rate, now);
    const after = wholeInMs + count * readIntervalMs(rate);
    const isOk = after <= readSpanMs(rate) + SLACK_MS;
    if (isOk) this.#keep(key, now + after, now);
    return describeTaken(rate, count, isOk, isOk ? after : wholeInMs);
  }

  /** Counts calls that were let in already, down to an empty burst. */
  charge(key: string, rate: Rate, count: number): void {
    const now = this.#nowMs();
    const after = this.#wholeInMs(key, rate, now) + count * readIntervalMs(rate);
    this.#keep(key, now + Math.min(after, readSpanMs(rate)), now);
  }

  /** No more than the whole burst can be missing: a rate that was made faster holds at once. */
  #wholeInMs(key: string, rate: Rate, now: number): number {
    return Math.min(Math.max((this.#wholeAt.get(key) ?? now) - now, 0), readSpanMs(rate));
  }

  #keep(key: string, wholeAt: number, now: number): void {
    this.#wholeAt.set(key, wholeAt);
    if (this.#wholeAt.size < this.#sweepAt) return;
    for (const [known, at] of this.#wholeAt) if (at <= now) this.#wholeAt.delete(known);
    this.#sweepAt = Math.max(SWEEP_MIN, 2 * this.#wholeAt.size);
  }
}

/** The time in which the rate adds one call. */
export function readIntervalMs({ requests, seconds }: Rate): number {
  return (seconds * 1000) / requests;
}

/** The time in which the rate adds a whole burst. */
function readSpanMs(rate: Rate): number {
  return rate.burst * readIntervalMs(rate);
}

/** The answer where the burst is whole again in `wholeInMs`: with the calls where they were taken, else without. */
export function describeTaken(rate: Rate, count: number, isOk: boolean, wholeInMs: number): Taken {
  const intervalMs = readIntervalMs(rate);
  const spareMs = readSpanMs(rate) + SLACK_MS - wholeInMs;
  const left = {
    remaining: Math.max(0, Math.floor(spareMs / intervalMs)),
    resetSeconds: Math.ceil(wholeInMs / 1000),
  };
  if (isOk) return { ok: true, ...left };
  const retryAfterSeconds =
    count > rate.burst ? null : Math.max(1, Math.ceil((count * intervalMs - spareMs) / 1000));
  return { ok: false, ...left, retryAfterSeconds };
}
