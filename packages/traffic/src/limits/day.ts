/** Counts the calls of each key today (UTC), in memory: a restart resets the counts, unlike those of month.ts. */
import type { Taken } from './rate.ts';

const DAY_MS = 86_400_000;

export class DayCounts {
  readonly #calls = new Map<string, number>();
  readonly #clock: () => number;
  #day = 0;

  /** `clock`: milliseconds since 1970. If it jumps to another day, the counts are reset. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** The current day, in days since 1970. */
  get day(): number {
    this.#startDay();
    return this.#day;
  }

  read(key: string): number {
    this.#startDay();
    return this.#calls.get(key) ?? 0;
  }

  /** Whether the key may make `count` more calls. Does not count them; `add` does. */
  check(key: string, limit: number, count: number): Taken {
    const calls = this.read(key);
    const isOk = calls + count <= limit;
    return describePeriod(
      limit,
      count,
      isOk,
      isOk ? calls + count : calls,
      DAY_MS - (this.#clock() % DAY_MS),
    );
  }

  add(key: string, count: number): void {
    this.#calls.set(key, this.read(key) + count);
  }

  #startDay(): void {
    const day = Math.floor(this.#clock() / DAY_MS);
    if (day !== this.#day) this.#calls.clear();
    this.#day = day;
  }
}

/** The result for a key with `calls` calls in a period, which include the new calls if these are allowed. */
export function describePeriod(
  limit: number,
  count: number,
  isOk: boolean,
  calls: number,
  leftMs: number,
): Taken {
  const resetSeconds = Math.max(1, Math.ceil(leftMs / 1000));
  const left = { remaining: Math.max(0, limit - calls), resetSeconds };
  if (isOk) return { ok: true, ...left };
  return { ok: false, ...left, retryAfterSeconds: count > limit ? null : resetSeconds };
}
