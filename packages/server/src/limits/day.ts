/** How many calls each key has made today (UTC), in memory: a restart forgets it. Knows neither keys nor HTTP. */
import type { Taken } from './rate.ts';

const DAY_MS = 86_400_000;

export class DayCounts {
  readonly #calls = new Map<string, number>();
  readonly #clock: () => number;
  #day = 0;

  /** Milliseconds since 1970. A clock that jumps to another day begins a new count. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** The day that is counted, in days since 1970. */
  get day(): number {
    this.#turn();
    return this.#day;
  }

  read(key: string): number {
    this.#turn();
    return this.#calls.get(key) ?? 0;
  }

  /** Whether the key may make `count` calls more; `add` counts them. */
  judge(key: string, limit: number, count: number): Taken {
    const calls = this.read(key);
    const isOk = calls + count <= limit;
    return describeDay(limit, count, isOk, isOk ? calls + count : calls, DAY_MS - (this.#clock() % DAY_MS));
  }

  add(key: string, count: number): void {
    this.#calls.set(key, this.read(key) + count);
  }

  #turn(): void {
    const day = Math.floor(this.#clock() / DAY_MS);
    if (day !== this.#day) this.#calls.clear();
    this.#day = day;
  }
}

/** The answer where the key has made `calls` today: with the new ones where they were taken, else without. */
export function describeDay(
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
