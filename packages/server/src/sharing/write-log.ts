/**
 * Remembers when something was last written to a model of a database, so that what was read before it is not given out
 * after it. Counts writes in place of telling the time. Bounded: where it had to forget, it says that there was a write.
 */
import { LRUCache } from 'lru-cache';

const REMEMBERED_MAX = 10_000;
/** In the place of a model's name. */
const ANY_MODEL = '*';
const ALL_MODELS = '**';

export class WriteLog {
  readonly #writes = new LRUCache<string, number>({
    max: REMEMBERED_MAX,
    dispose: (count, _scope, reason) => {
      if (reason === 'evict') this.#forgotten = Math.max(this.#forgotten, count);
    },
  });
  #forgotten = 0;
  /** Number of the last write: what a read notes before it goes out. */
  count = 0;

  /** A write to one model; null: to one or several that nobody knows. */
  note(database: string, model: string | null): void {
    this.count++;
    this.#writes.set(nameScope(database, ANY_MODEL), this.count);
    this.#writes.set(nameScope(database, model ?? ALL_MODELS), this.count);
  }

  /** Whether anything was written to the database since. */
  hasAny(database: string, since: number): boolean {
    return this.#lastOf(database, ANY_MODEL) > since;
  }

  /** Whether something was written since that is known to change the model, or may have. */
  hasOf(database: string, model: string, since: number): boolean {
    return this.#lastOf(database, model) > since || this.#lastOf(database, ALL_MODELS) > since;
  }

  #lastOf(database: string, model: string): number {
    return this.#writes.get(nameScope(database, model)) ?? this.#forgotten;
  }
}

/** Models have no line breaks in their names. */
function nameScope(database: string, model: string): string {
  return `${model}\n${database}`;
}
