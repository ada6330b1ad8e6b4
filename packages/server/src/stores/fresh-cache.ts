/**
 * Rows of the store in memory, for as long as they are as the store has them: the store tells of changes, and what it
 * told of is read again. Where the store is away they count as they were last known, for a while. Knows no row.
 */
import { LRUCache } from 'lru-cache';
import { SingleFlight } from '../streams/single-flight.ts';
import type { Awaitable, Store, StoreChange } from './ports.ts';

/** How long a store that is away does not stop what is known: longer than a restart, shorter than nobody would notice. */
export const STALE_MS = 300_000;
const LOOK_MS = 1_000;
const TRY_AGAIN_MS = 1_000;
/** Ids that callers make up go here, and push out no row. */
const ABSENT_MAX = 1_000;
/** Doubts whose time is remembered; of older ones no row is left that was last right within {@link STALE_MS}. */
const DOUBTS_MAX = 1_000;

interface Entry<Value> {
  value: Value;
  /** The number of the doubt after which it was read. */
  readAfter: number;
  /** When it was last tried to be read again while the store was not heard. */
  triedAt: number;
}

export interface FreshCacheOptions<Row, Value> {
  /** Entries; beyond it the ones that were not used for longest go. */
  max: number;
  kind: StoreChange['kind'];
  store: Pick<Store, 'watch' | 'isWatching'>;
  /** Asks the store; a failure means that it is away. */
  read: (id: string) => Awaitable<Row | null>;
  /** Makes of a row what is kept; what it throws is the row's fault, and nothing older is used instead. */
  open: (row: Row, known: Value | undefined) => Value;
  /** A clock that never goes back, in milliseconds. */
  nowMs?: () => number;
}

export class FreshCache<Row, Value extends object> {
  readonly #entries: LRUCache<string, Entry<Value>>;
  /** What the store did not have, by the number of the doubt after which it was asked. */
  readonly #absent = new LRUCache<string, number>({ max: ABSENT_MAX });
  readonly #loads = new SingleFlight<Value | null>();
  readonly #options: FreshCacheOptions<Row, Value>;
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;
  /** Counts the times that anything may have changed. */
  #doubts = 0;
  /** By the number of a doubt, when the store was last heard before it. */
  readonly #heardBefore = new Map<number, number>();
  #lastHeardAt: number;

  constructor(options: FreshCacheOptions<Row, Value>) {
    const { max, kind, store, nowMs = () => performance.now() } = options;
    this.#entries = new LRUCache({ max });
    this.#options = options;
    this.#nowMs = nowMs;
    this.#lastHeardAt = nowMs();
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
    store.watch((change) => {
      if (change === null) this.#doubt();
      else if (change.kind === kind) this.forget(change.id);
    });
  }

  /**
   * What is known to be as the store has it, or was when the store went away; null where the store is known to have nothing,
   * undefined where it must be read.
   */
  find(id: string): Value | null | undefined {
    const { isWatching } = this.#options.store;
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return isWatching && this.#absent.get(id) === this.#doubts ? null : undefined;
    }
    if (isWatching) return entry.readAfter === this.#doubts ? entry.value : undefined;
    if (!this.#isUsable(entry)) return undefined;
    this.#tryAgain(id, entry);
    return entry.value;
  }

  /** Reads from the store and keeps what was read; those who ask for one id at once share one read. */
  load(id: string): Awaitable<Value | null> {
    const running = this.#loads.get(id);
    if (running !== undefined) return running;
    const readAfter = this.#doubts;
    let found: Awaitable<Row | null>;
    try {
      found = this.#options.read(id);
    } catch (error) {
      return this.#findInstead(id, error);
    }
    if (!(found instanceof Promise)) return this.#keep(id, found, readAfter, false);
    const reading = found;
    return this.#loads.run(id, (flight) =>
      reading.then(
        (row) => this.#keep(id, row, readAfter, flight.isForgotten),
        (error: unknown) => this.#findInstead(id, error),
      ),
    );
  }

  /** It has changed: what is known of it, or is being read, is not to be used again. */
  forget(id: string): void {
    this.#entries.delete(id);
    this.#absent.delete(id);
    this.#loads.forget(id);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** `isStale`: it has changed since it was read, so that it is for those who asked before that. */
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

  /** A store that is not heard may still answer: then a change arrives late, and not after minutes. Nobody waits for it. */
  #tryAgain(id: string, entry: Entry<Value>): void {
    const now = this.#nowMs();
    if (now - entry.triedAt < TRY_AGAIN_MS) return;
    entry.triedAt = now;
    void (async () => this.load(id))().catch(() => {});
  }

  /** The store failed: what was known before it did is better than nothing. */
  #findInstead(id: string, error: unknown): Value {
    const entry = this.#entries.get(id);
    if (entry === undefined || !this.#isUsable(entry)) throw error;
    return entry.value;
  }

  /** Whether it was right not too long ago: until the store went silent, or the first doubt about it. */
  #isUsable({ readAfter }: Entry<Value>): boolean {
    const rightAt = readAfter === this.#doubts ? this.#lastHeardAt : this.#heardBefore.get(readAfter + 1);
    return rightAt !== undefined && this.#nowMs() - rightAt < STALE_MS;
  }

  #doubt(): void {
    this.#doubts++;
    this.#heardBefore.set(this.#doubts, this.#lastHeardAt);
    this.#heardBefore.delete(this.#doubts - DOUBTS_MAX);
    this.#look();
    this.#loads.forgetAll();
  }

  #look(): void {
    if (this.#options.store.isWatching) this.#lastHeardAt = this.#nowMs();
  }
}
