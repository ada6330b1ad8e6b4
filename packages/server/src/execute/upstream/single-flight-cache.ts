/**
 * Answers that many calls need: each is asked for once at a time, kept for a while, and the number of them is bounded. Who
 * asked first does not matter: the question goes on when its caller leaves.
 */
import { LRUCache } from 'lru-cache';

/** An answer, and how long it holds; 0 = for those who wait now only. */
export interface Kept<Value> {
  value: Value;
  ttlMs: number;
}

/** What a caller gets who does not wait any longer. */
export const GAVE_UP = Symbol('gave up');

export class SingleFlightCache<Value extends NonNullable<unknown>> {
  readonly #kept: LRUCache<string, { value: Value }>;
  readonly #asked = new Map<string, Promise<Value>>();

  /** `max` bounds the weights of all answers together; an answer that is heavier than that is not kept. */
  constructor(max: number, nowMs: () => number, weigh: (value: Value) => number = () => 1) {
    const sizeCalculation = ({ value }: { value: Value }) => weigh(value);
    this.#kept = new LRUCache({ maxSize: max, sizeCalculation, ttlResolution: 0, perf: { now: nowMs } });
  }

  /** `ask` must not reject, and must end by itself. */
  get(
    key: string,
    signal: AbortSignal,
    ask: () => Promise<Kept<Value>>,
  ): Value | Promise<Value | typeof GAVE_UP> {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.value;
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.#ask(key, ask);
      this.#asked.set(key, asked);
    }
    return waitFor(asked, signal);
  }

  set(key: string, { value, ttlMs }: Kept<Value>): void {
    if (ttlMs > 0) this.#kept.set(key, { value }, { ttl: ttlMs });
  }

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }

  async #ask(key: string, ask: () => Promise<Kept<Value>>): Promise<Value> {
    try {
      const answer = await ask();
      this.set(key, answer);
      return answer.value;
    } finally {
      this.#asked.delete(key);
    }
  }
}

function waitFor<Value>(asked: Promise<Value>, signal: AbortSignal): Promise<Value | typeof GAVE_UP> {
  if (signal.aborted) return Promise.resolve(GAVE_UP);
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(GAVE_UP);
    signal.addEventListener('abort', giveUp);
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
