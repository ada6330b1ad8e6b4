/**
 * Runs a task once at a time for each key: callers that come while it runs share its result. It keeps no results;
 * {@link SingleFlightCache} does.
 */
import { LRUCache } from 'lru-cache';
import { type ABORTED, waitFor } from './wait.ts';

/** A task that runs. */
export interface Flight {
  /** True if the key was forgotten since the task began: its result may be out of date. */
  readonly isForgotten: boolean;
}

export class SingleFlight<Value> {
  readonly #flights = new Map<string, { isForgotten: boolean; result: Promise<Value> }>();

  /** The result of the task that runs for this key; undefined if none does. */
  get(key: string): Promise<Value> | undefined {
    return this.#flights.get(key)?.result;
  }

  /** The result of the task that runs for this key, or of `start`, which begins one. */
  run(key: string, start: (flight: Flight) => Promise<Value>): Promise<Value> {
    const running = this.get(key);
    if (running !== undefined) return running;
    const flight = { isForgotten: false };
    const result = start(flight).finally(() => {
      if (!flight.isForgotten) this.#flights.delete(key);
    });
    this.#flights.set(key, Object.assign(flight, { result }));
    return result;
  }

  /** Later callers start a new task. Those that wait for the present one still get its result. */
  forget(key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    flight.isForgotten = true;
    this.#flights.delete(key);
  }

  forgetAll(): void {
    for (const key of this.#flights.keys()) this.forget(key);
  }
}

/** A value and how long it is valid. 0: it goes to the callers that wait now, and is not kept. */
export interface Kept<Value> {
  value: Value;
  ttlMs: number;
}

/**
 * A bounded cache whose entries expire. Callers that need the same missing value share one task that finds it. The
 * task continues when the caller that started it leaves.
 */
export class SingleFlightCache<Value extends NonNullable<unknown>> {
  readonly #kept: LRUCache<string, { value: Value }>;
  readonly #flights = new SingleFlight<Value>();

  /** `max` bounds the sum of all weights. A value that is heavier than that is not kept. */
  constructor(max: number, nowMs: () => number, weigh: (value: Value) => number = () => 1) {
    const sizeCalculation = ({ value }: { value: Value }) => weigh(value);
    // The library takes 0 as the start of an entry for an entry without a start.
    const perf = { now: () => nowMs() + 1 };
    this.#kept = new LRUCache({ maxSize: max, sizeCalculation, ttlResolution: 0, perf });
  }

  /** The kept value, or that of `find`, which must end by itself. Rejects if `find` does; nothing is kept then. */
  get(key: string, find: () => Promise<Kept<Value>>): Value | Promise<Value>;
  /** With a signal, a caller stops to wait when it is aborted. */
  get(
    key: string,
    find: () => Promise<Kept<Value>>,
    signal: AbortSignal,
  ): Value | Promise<Value | typeof ABORTED>;
  get(
    key: string,
    find: () => Promise<Kept<Value>>,
    signal?: AbortSignal,
  ): Value | Promise<Value | typeof ABORTED> {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.value;
    const found = this.#flights.run(key, async () => {
      const answer = await find();
      this.set(key, answer);
      return answer.value;
    });
    return signal === undefined ? found : waitFor(found, { signal });
  }

  set(key: string, { value, ttlMs }: Kept<Value>): void {
    if (ttlMs > 0) this.#kept.set(key, { value }, { ttl: ttlMs });
  }

  /** The kept value. */
  recall(key: string): Value | undefined {
    return this.#kept.get(key)?.value;
  }

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }
}
