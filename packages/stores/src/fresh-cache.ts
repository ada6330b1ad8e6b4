/**
 * A cache of rows of the store. An entry is valid until the store reports a change of its row; then the row is read
 * again. While the store is unavailable, entries stay usable for a limited time. Must not know what a row contains.
 */

import { atMost, SingleFlight, SlicedTasks } from '@erp-proxy/async/tasks';
import { LRUCache } from 'lru-cache';
import type { Store, StoreChange } from './ports/store.ts';

/**
 * Time for which entries stay usable while the store is unavailable: longer than a restart, and short enough for
 * operators to notice.
 */
export const STALE_MS = 300_000;
/**
 * Interval of checks whether the store is watching. An entry may expire this much too early. Each check wakes the idle
 * process.
 */
const CHECK_MS = 10_000;
const RETRY_MS = 1_000;
/** Maximum number of cached ids without a row. A separate bound: ids that callers make up must not evict rows. */
const ABSENT_MAX = 1_000;
/** Number of invalidations whose time is kept. No usable row is older than this number of invalidations. */
const INVALIDATIONS_MAX = 1_000;

interface Entry<Value> {
  value: Value;
  /** Number of invalidations before the row was read. */
  readAfter: number;
  /** Last attempt to read the row again while the store was not watching. */
  triedAt: number;
}

export interface FreshCacheOptions<Row, Value> {
  /** Maximum number of entries. The least recently used one is evicted. */
  max: number;
  kind: StoreChange['kind'];
  store: Pick<Store, 'watch' | 'isWatching'>;
  /** Reads the store. A failure means that it is unavailable. */
  read: (id: string) => Promise<Row | null>;
  /**
   * Converts a row to the cached value, which may take a millisecond. If it throws, the row is invalid, and no older
   * value is used instead.
   */
  open: (row: Row, known: Value | undefined) => Value;
  /** A monotonic clock in milliseconds. */
  nowMs?: () => number;
}

export class FreshCache<Row, Value extends object> {
  readonly #entries: LRUCache<string, Entry<Value>>;
  /** Ids that the store did not have, with the number of invalidations before they were read. */
  readonly #absent = new LRUCache<string, number>(atMost(ABSENT_MAX));
  readonly #loads = new SingleFlight<Value | null>();
  /** The rows of many loads can arrive at once. */
  readonly #openings: SlicedTasks;
  readonly #options: FreshCacheOptions<Row, Value>;
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;
  /** Number of times that the store reported that any row may have changed. */
  #invalidations = 0;
  /** For each invalidation, the last time before it at which the store was watching. */
  readonly #watchedBefore = new Map<number, number>();
  #lastWatchedAt: number;

  constructor(options: FreshCacheOptions<Row, Value>) {
    const { max, kind, store, nowMs = () => performance.now() } = options;
    this.#entries = new LRUCache(atMost(max));
    this.#options = options;
    this.#nowMs = nowMs;
    this.#openings = new SlicedTasks(nowMs);
    this.#lastWatchedAt = nowMs();
    this.#timer = setInterval(() => this.#recordWatching(), CHECK_MS).unref();
    store.watch((change) => {
      if (change === null) this.#invalidateAll();
      else if (change.kind === kind) this.forget(change.id);
    });
  }

  /**
   * The cached value, if it is current, or was current when the store became unavailable. Null: the store is known not
   * to have the row. Undefined: the row must be loaded.
   */
  find(id: string): Value | null | undefined {
    const { isWatching } = this.#options.store;
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return isWatching && this.#absent.get(id) === this.#invalidations ? null : undefined;
    }
    if (isWatching) return entry.readAfter === this.#invalidations ? entry.value : undefined;
    if (!this.#isUsable(entry)) return undefined;
    this.#retry(id, entry);
    return entry.value;
  }

  /** Reads from the store and caches the result. Simultaneous calls for one id share one read. */
  async load(id: string): Promise<Value | null> {
    const readAfter = this.#invalidations;
    return await this.#loads.run(id, async (flight) => {
      let row: Row | null;
      try {
        row = await this.#options.read(id);
      } catch (error) {
        return this.#findUsable(id, error);
      }
      // A row that waits to be opened is still being read: a change that is reported meanwhile makes it stale.
      return await this.#openings.run(() => this.#keep(id, row, readAfter, flight.isForgotten));
    });
  }

  /** Call this when the row has changed. The cached value, or one that is being read, is not used again. */
  forget(id: string): void {
    this.#entries.delete(id);
    this.#absent.delete(id);
    this.#loads.forget(id);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** `isStale`: the row changed after the read began. Only the callers of that read then get the value. */
  #keep(id: string, row: Row | null, readAfter: number, isStale: boolean): Value | null {
    if (isStale) return row && this.#options.open(row, undefined);
    const known = this.#entries.peek(id)?.value;
    this.#entries.delete(id);
    if (row === null) {
      this.#absent.set(id, readAfter);
      return null;
    }
    this.#absent.delete(id);
    const value = this.#options.open(row, known);
    this.#entries.set(id, { value, readAfter, triedAt: this.#nowMs() });
    return value;
  }

  /**
   * Reads the row again while the store is not watching: a store that answers has the newest row. No caller waits for
   * the read.
   */
  #retry(id: string, entry: Entry<Value>): void {
    const now = this.#nowMs();
    if (now - entry.triedAt < RETRY_MS) return;
    entry.triedAt = now;
    this.load(id).catch(() => {});
  }

  /** Returns the cached value if it is recent enough. Otherwise throws the failure of the store. */
  #findUsable(id: string, error: unknown): Value {
    const entry = this.#entries.get(id);
    if (entry === undefined || !this.#isUsable(entry)) throw error;
    return entry.value;
  }

  /**
   * Whether the entry was valid within {@link STALE_MS}. It was valid until the store stopped watching, or until the
   * first invalidation after it was read.
   */
  #isUsable({ readAfter }: Entry<Value>): boolean {
    const validAt =
      readAfter === this.#invalidations ? this.#lastWatchedAt : this.#watchedBefore.get(readAfter + 1);
    return validAt !== undefined && this.#nowMs() - validAt < STALE_MS;
  }

  #invalidateAll(): void {
    this.#invalidations++;
    this.#watchedBefore.set(this.#invalidations, this.#lastWatchedAt);
    this.#watchedBefore.delete(this.#invalidations - INVALIDATIONS_MAX);
    this.#recordWatching();
    this.#loads.forgetAll();
  }

  #recordWatching(): void {
    if (this.#options.store.isWatching) this.#lastWatchedAt = this.#nowMs();
  }
}
