/**
 * Stores the time of the last use of a key or a token, in the background and at most once a minute for each. A call
 * neither waits for this write nor fails because of it. Does not know whether a key is valid.
 */

import { atMost, createBatchedWrites } from '@erp-proxy/async/tasks';
import type { KeyRecord, KeyStore } from '@erp-proxy/stores/ports';
import { LRUCache } from 'lru-cache';

const INTERVAL_MS = 60_000;
const WRITE_DELAY_MS = 1000;
/** Small, so that other operations of the store run between two batches. */
const BATCH_KEYS_MAX = 200;
const REMEMBERED_KEYS_MAX = 10_000;

export interface LastUsed {
  record(key: Pick<KeyRecord, 'id' | 'lastUsedAt'>, now: number): void;
  /** Writes the recorded times. Rejects if the store fails; the times are then lost. */
  flush(): Promise<void>;
  /** Writes the recorded times. Later calls of `record` are ignored. */
  close(): Promise<void>;
}

export function createLastUsed(store: Pick<KeyStore, 'touch'>, onError: (error: unknown) => void): LastUsed {
  const { add, flush, close } = createBatchedWrites<number>({
    delayMs: WRITE_DELAY_MS,
    keysMax: BATCH_KEYS_MAX,
    merge: (_, latest) => latest,
    write: (uses) => store.touch(uses),
    onError,
  });
  // The time in a key's record can be older than the time recorded here.
  const recordedAt = new LRUCache<string, number>(atMost(REMEMBERED_KEYS_MAX));
  let isClosed = false;

  return {
    record(key, now) {
      if (isClosed || isRecent(key.lastUsedAt, now) || isRecent(recordedAt.get(key.id), now)) return;
      recordedAt.set(key.id, now);
      add(key.id, now);
    },
    flush,
    close() {
      isClosed = true;
      return close();
    },
  };
}

function isRecent(usedAt: number | null | undefined, now: number): boolean {
  return usedAt !== null && usedAt !== undefined && now - usedAt < INTERVAL_MS;
}
