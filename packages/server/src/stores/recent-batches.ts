/** Which batches of the audit were appended lately, for stores in which a failed append has left nothing behind. */
import { LRUCache } from 'lru-cache';
import type { AuditBatch } from './ports.ts';

/** A writer gives the batch that failed again before it gives another. */
const BATCHES_MAX = 100;

export class RecentBatches {
  readonly #ids = new LRUCache<string, true>({ max: BATCHES_MAX });

  /** Runs `append` unless it has succeeded for this batch before. */
  appendOnce({ id, records }: AuditBatch, append: () => void): void {
    if (records.length === 0 || this.#ids.has(id)) return;
    append();
    this.#ids.set(id, true);
  }
}
