/**
 * Counts the calls of each key in the current calendar month (UTC). The store has the sums of all processes. Each
 * process adds its calls to the sums in the background, and gets the calls of the other processes with the answer. A
 * killed process loses the calls of about a second. While the store is unavailable, a process counts on from the last
 * known sum, and adds its calls later.
 */

import { type BatchedWrites, createBatchedWrites, SingleFlight } from '@erp-proxy/async/tasks';
import { UnknownOutcomeError } from '@erp-proxy/stores';
import type { CallCount, CallCountStore } from '@erp-proxy/stores/ports';
import { describePeriod } from './day.ts';
import type { Taken } from './rate.ts';

const WRITE_DELAY_MS = 1000;
/** Small, so that other operations of the store run between two batches. */
const BATCH_KEYS_MAX = 200;

export interface MonthCountsOptions {
  /** Milliseconds since 1970. A jump to another month starts new counts. */
  clock: () => number;
  /** Null: the counts are only in memory. */
  store?: CallCountStore | null;
  /** Called with the first error of the store since its last success. */
  onError?: (error: unknown) => void;
}

/** The count of a key this month. */
export interface MonthCount {
  /** Such as `2026-11`. */
  month: string;
  /** Number of calls of all processes, as far as this process knows. */
  calls: number;
  /** End of the month, in milliseconds since 1970. */
  endsAt: number;
}

/** The result of a check. `seconds`: length of the month. */
export type MonthTaken = Taken & { seconds: number };

/** The known numbers of calls of a key this month. */
interface KnownCalls {
  /** Number of calls that are in the store. */
  stored: number;
  /** Number of calls of this process that are not in the store yet. */
  added: number;
}

interface Month {
  /** Such as `2026-11`. */
  name: string;
  startsAt: number;
  endsAt: number;
}

export class MonthCounts {
  readonly #clock: () => number;
  readonly #store: CallCountStore | null;
  readonly #onError: (error: unknown) => void;
  readonly #known = new Map<string, KnownCalls>();
  readonly #reads = new SingleFlight<void>();
  readonly #writes: BatchedWrites<CallCount>;
  #month: Month = { name: '', startsAt: 0, endsAt: 0 };
  #isFailing = false;

  constructor({ clock, store = null, onError = () => {} }: MonthCountsOptions) {
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
  async load(key: string): Promise<void> {
    const { name } = this.#readMonth();
    if (this.#store === null || this.#known.has(key)) return;
    await this.#reads.run(`${name} ${key}`, () => this.#read(key, name));
  }

  /** Whether the key may make `count` more calls. Does not count them; `add` does. */
  check(key: string, limit: number, count: number): MonthTaken {
    const { calls, endsAt } = this.read(key);
    const isOk = calls + count <= limit;
    const taken = describePeriod(limit, count, isOk, isOk ? calls + count : calls, endsAt - this.#clock());
    return { ...taken, seconds: this.#seconds };
  }

  /** As {@link check}, for calls that were counted elsewhere: `calls` includes the new calls if these are allowed. */
  describe(limit: number, count: number, isOk: boolean, calls: number): MonthTaken {
    const { endsAt } = this.#readMonth();
    return {
      ...describePeriod(limit, count, isOk, calls, endsAt - this.#clock()),
      seconds: this.#seconds,
    };
  }

  add(key: string, count: number): void {
    const { name } = this.#readMonth();
    const known = this.#known.get(key) ?? { stored: 0, added: 0 };
    known.added += count;
    this.#known.set(key, known);
    if (this.#store !== null) this.#addToWrites({ month: name, clientId: key, calls: count });
  }

  read(key: string): MonthCount {
    const { name, endsAt } = this.#readMonth();
    const { stored, added } = this.#known.get(key) ?? { stored: 0, added: 0 };
    return { month: name, calls: stored + added, endsAt };
  }

  /** Writes all calls to the store. Rejects if the store fails. */
  flush(): Promise<void> {
    return this.#writes.flush();
  }

  /** Writes all calls to the store, which stays open. Calls that the store does not take are lost. */
  async close(): Promise<void> {
    await this.#writes.close().catch(() => {});
  }

  get #seconds(): number {
    const { startsAt, endsAt } = this.#month;
    return (endsAt - startsAt) / 1000;
  }

  #readMonth(): Month {
    const now = this.#clock();
    if (now >= this.#month.endsAt || now < this.#month.startsAt) {
      this.#month = describeMonth(now);
      this.#known.clear();
    }
    return this.#month;
  }

  async #read(key: string, month: string): Promise<void> {
    let stored = 0;
    try {
      stored = (await this.#store?.read(month, key)) ?? 0;
      this.#isFailing = false;
    } catch (error) {
      this.#report(error);
    }
    if (this.#readMonth().name !== month) return;
    const known = this.#known.get(key);
    // Calls that were counted and written in the meantime are part of the sum.
    if (known === undefined) this.#known.set(key, { stored, added: 0 });
    else known.stored = Math.max(known.stored, stored);
  }

  async #write(counts: CallCount[]): Promise<void> {
    try {
      const sums = (await this.#store?.add(counts)) ?? [];
      this.#isFailing = false;
      const sumOf = new Map(sums.map((sum) => [nameWrite(sum), sum.calls]));
      for (const count of counts) this.#settle(count, sumOf.get(nameWrite(count)) ?? 0);
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
  #settle({ month, clientId, calls }: CallCount, sum: number): void {
    const known = this.#known.get(clientId);
    if (known === undefined || this.#readMonth().name !== month) return;
    known.added -= calls;
    known.stored = Math.max(known.stored + calls, sum);
  }

  #addToWrites(count: CallCount): void {
    this.#writes.add(nameWrite(count), count);
  }

  #report(error: unknown): void {
    if (!this.#isFailing) this.#onError(error);
    this.#isFailing = true;
  }
}

function nameWrite({ month, clientId }: CallCount): string {
  return `${month} ${clientId}`;
}

function describeMonth(now: number): Month {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: date.toISOString().slice(0, 7),
    startsAt: Date.UTC(year, month),
    endsAt: Date.UTC(year, month + 1),
  };
}
