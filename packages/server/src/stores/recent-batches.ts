/** Remembers which batches of the audit were appended recently, for stores in which a failed append changes nothing. */
import { LRUCache } from 'lru-cache';
import type { AuditBatch } from './ports/audit.ts';

/** Small, because a writer repeats a failed batch before it appends the next one. */
const BATCHES_MAX = 100;

export class RecentBatches {
  readonly #ids = new LRUCache<string, true>({ max: BATCHES_MAX });

  /** Runs `append` unless it has already succeeded for this batch. */
  appendOnce({ id, records }: AuditBatch, append: () => void): void {
    if (records.length === 0 || this.#ids.has(id)) return;
    append();
    this.#ids.set(id, true);
  }
}
