/**
 * Counts the calls of each key in the current day and calendar month (UTC). The store has the sums of all processes.
 * Each process adds its calls to the sums in the background, and gets the calls of the other processes with the answer.
 * A killed process loses the calls of about a second. While the store is unavailable, a process counts on from the last
 * known sum, and adds its calls later.
 */

import { type BatchedWrites, createBatchedWrites, SingleFlight } from '@erp-proxy/async/tasks';
import type { KeyLimit } from '@erp-proxy/contract';
import { UnknownOutcomeError } from '@erp-proxy/stores';
import type { CallCount, CallCountStore } from '@erp-proxy/stores/ports';
import type { Taken } from './rate.ts';

/**
 * The limits of calls in a period, the longest period first: limits are checked in this order. `name`: the name of the
 * quota in the headers of answers.
 */
export const PERIODS = [
  { limit: 'per_month', name: 'month' },
  { limit: 'per_day', name: 'day' },
] as const satisfies readonly { limit: KeyLimit; name: string }[];

/** Finds the period at a time in milliseconds since 1970. */
const FIND_PERIOD: Readonly<Record<PeriodLimit, (now: number) => Period>> = {
  per_month: findMonth,
  per_day: findDay,
};

export type PeriodLimit = (typeof PERIODS)[number]['limit'];
export type PeriodName = (typeof PERIODS)[number]['name'];

export interface Period {
  /** Such as `2026-11` or `2026-11-28`. */
  name: string;
  /** Milliseconds since 1970. */
  startsAt: number;
  endsAt: number;
}

const DAY_MS = 86_400_000;
const WRITE_DELAY_MS = 1000;
/** Small, so that other operations of the store run between two batches. */
const BATCH_KEYS_MAX = 200;

export interface PeriodCountsOptions {
  /** Milliseconds since 1970. A jump to another period starts new counts. */
  clock: () => number;
  /** Null: the counts are only in memory. */
  store?: CallCountStore | null;
  /** Called with the first error of the store since its last success. */
  onError?: (error: unknown) => void;
}

/** The result of a check. `seconds`: length of the period. */
export type PeriodTaken = Taken & { seconds: number };

/** The known number of calls of a key in a period. */
interface KnownCalls {
  /** Number of calls that are in the store. */
  stored: number;
  /** Number of calls of this process that are not in the store yet. */
  added: number;
}

/** The current period of a limit, with the calls of each key. */
interface CurrentPeriod extends Period {
  known: Map<string, KnownCalls>;
}

export class PeriodCounts {
  readonly #clock: () => number;
  readonly #store: CallCountStore | null;
  readonly #onError: (error: unknown) => void;
  readonly #current = new Map<PeriodLimit, CurrentPeriod>();
  readonly #reads = new SingleFlight<void>();
  readonly #writes: BatchedWrites<CallCount>;
  #isFailing = false;

  constructor({ clock, store = null, onError = () => {} }: PeriodCountsOptions) {
    this.#clock = clock;
    this.#store = store;
    this.#onError = onError;
    this.#writes = createBatchedWrites<CallCount>({
      delayMs: WRITE_DELAY_MS,
      keysMax: BATCH_KEYS_MAX,
      merge: (waiting, { calls }) => ({ ...waiting, calls: waiting.calls + calls }),
      write: (batch) => this.#write([...batch.values()]),
      // `#write` reports errors itself.
      onError() {},
    });
  }

  /** Reads the count of the key from the store, unless it is known. If the read fails, counting begins at 0. */
  async load(limit: PeriodLimit, key: string): Promise<void> {
    const { name, known } = this.#readPeriod(limit);
    if (this.#store === null || known.has(key)) return;
    await this.#reads.run(nameCount(name, key), () => this.#read(limit, name, key));
  }

  /** Whether the key may make `count` more calls. Does not count them; `add` does. */
  check(limit: PeriodLimit, key: string, max: number, count: number): PeriodTaken {
    const { calls } = this.read(limit, key);
    const isOk = calls + count <= max;
    return this.describe(limit, max, count, isOk, isOk ? calls + count : calls);
  }

  /** As {@link check}, for calls that were counted elsewhere: `calls` includes the new calls if these are allowed. */
  describe(limit: PeriodLimit, max: number, count: number, isOk: boolean, calls: number): PeriodTaken {
    const { startsAt, endsAt } = this.#readPeriod(limit);
    const resetSeconds = Math.max(1, Math.ceil((endsAt - this.#clock()) / 1000));
    const left = {
      remaining: Math.max(0, max - calls),
      resetSeconds,
      seconds: (endsAt - startsAt) / 1000,
    };
    if (isOk) return { ok: true, ...left };
    return { ok: false, ...left, retryAfterSeconds: count > max ? null : resetSeconds };
  }

  add(limit: PeriodLimit, key: string, calls: number): void {
    const { name, known } = this.#readPeriod(limit);
    const counted = known.get(key) ?? { stored: 0, added: 0 };
    counted.added += calls;
    known.set(key, counted);
    if (this.#store !== null) this.#addToWrites({ period: name, clientId: key, calls });
  }

  /** The current period, and the calls of all processes in it, as far as this process knows. */
  read(limit: PeriodLimit, key: string): { period: string; calls: number; endsAt: number } {
    const { name, endsAt, known } = this.#readPeriod(limit);
    const { stored, added } = known.get(key) ?? { stored: 0, added: 0 };
    return { period: name, calls: stored + added, endsAt };
  }

  /** Writes all calls to the store. Rejects if the store fails. */
  flush(): Promise<void> {
    return this.#writes.flush();
  }

  /** Writes all calls to the store, which stays open. Calls that the store does not take are lost. */
  async close(): Promise<void> {
    await this.#writes.close().catch(() => {});
  }

  #readPeriod(limit: PeriodLimit): CurrentPeriod {
    const now = this.#clock();
    const current = this.#current.get(limit);
    if (current !== undefined && now >= current.startsAt && now < current.endsAt) return current;
    const next = { ...FIND_PERIOD[limit](now), known: new Map<string, KnownCalls>() };
    this.#current.set(limit, next);
    return next;
  }

  async #read(limit: PeriodLimit, name: string, key: string): Promise<void> {
    let stored = 0;
    try {
      stored = (await this.#store?.read(name, key)) ?? 0;
      this.#isFailing = false;
    } catch (error) {
      this.#report(error);
    }
    const current = this.#readPeriod(limit);
    if (current.name !== name) return;
    const counted = current.known.get(key);
    // Calls that were counted and written in the meantime are part of the sum.
    if (counted === undefined) current.known.set(key, { stored, added: 0 });
    else counted.stored = Math.max(counted.stored, stored);
  }

  async #write(counts: CallCount[]): Promise<void> {
    try {
      const sums = (await this.#store?.add(counts)) ?? [];
      this.#isFailing = false;
      const sumOf = new Map(sums.map((sum) => [nameCount(sum.period, sum.clientId), sum.calls]));
      for (const count of counts)
        this.#settle(count, sumOf.get(nameCount(count.period, count.clientId)) ?? 0);
    } catch (error) {
      this.#report(error);
      for (const count of counts) {
        // After a lost answer, the calls are not written again: some calls too many are better than a quota that counts
        // them twice.
        if (error instanceof UnknownOutcomeError) this.#settle(count, 0);
        else this.#addToWrites(count);
      }
      throw error;
    }
  }

  /** Moves calls that the store has taken to `stored`. The sum in the store is at least `sum`. */
  #settle({ period, clientId, calls }: CallCount, sum: number): void {
    for (const { limit } of PERIODS) {
      const { name, known } = this.#readPeriod(limit);
      const counted = name === period ? known.get(clientId) : undefined;
      if (counted === undefined) continue;
      counted.added -= calls;
      counted.stored = Math.max(counted.stored + calls, sum);
    }
  }

  #addToWrites(count: CallCount): void {
    this.#writes.add(nameCount(count.period, count.clientId), count);
  }

  #report(error: unknown): void {
    if (!this.#isFailing) this.#onError(error);
    this.#isFailing = true;
  }
}

function nameCount(period: string, key: string): string {
  return `${period} ${key}`;
}

function findMonth(now: number): Period {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: date.toISOString().slice(0, 7),
    startsAt: Date.UTC(year, month),
    endsAt: Date.UTC(year, month + 1),
  };
}

function findDay(now: number): Period {
  const startsAt = Math.floor(now / DAY_MS) * DAY_MS;
  return { name: new Date(now).toISOString().slice(0, 10), startsAt, endsAt: startsAt + DAY_MS };
}
