/**
 * Remembers the last writes to models and databases, so that answers from before a write are not served after it. Time
 * is a count of writes. The memory is bounded: an evicted entry counts as written.
 */

import { atMost } from '@erp-proxy/async/tasks';
import { LRUCache } from 'lru-cache';

const ENTRIES_MAX = 10_000;
/** Keys in place of a model name. */
const ANY_MODEL = '*';
const ALL_MODELS = '**';

export class WriteLog {
  readonly #writes = new LRUCache<string, number>({
    ...atMost(ENTRIES_MAX),
    dispose: (count, _scope, reason) => {
      if (reason === 'evict') this.#lastEvicted = Math.max(this.#lastEvicted, count);
    },
  });
  /** Number of the last write whose entry was evicted. */
  #lastEvicted = 0;
  /** Number of the last write. A sent read stores it. */
  count = 0;

  /** Records a write to one model; null: to one or more unknown models. */
  add(database: string, model: string | null): void {
    this.count++;
    this.#writes.set(nameScope(database, ANY_MODEL), this.count);
    this.#writes.set(nameScope(database, model ?? ALL_MODELS), this.count);
  }

  /** Whether the database was written after write number `since`. */
  hasWrite(database: string, since: number): boolean {
    return this.#findLast(database, ANY_MODEL) > since;
  }

  /** Whether the model was, or may have been, written after write number `since`. */
  hasModelWrite(database: string, model: string, since: number): boolean {
    return this.#findLast(database, model) > since || this.#findLast(database, ALL_MODELS) > since;
  }

  #findLast(database: string, model: string): number {
    return this.#writes.get(nameScope(database, model)) ?? this.#lastEvicted;
  }
}

/** Names of models contain no line breaks. */
function nameScope(database: string, model: string): string {
  return `${model}\n${database}`;
}
