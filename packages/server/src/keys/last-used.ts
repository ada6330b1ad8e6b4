/**
 * Stores the time of a key's last use, in the background and at most once a minute for each key. A call neither waits
 * for it nor fails because of it. Does not know whether a key is valid.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { KeyRecord, KeyStore } from '../stores/ports.ts';

const INTERVAL_MS = 60_000;
const WRITE_DELAY_MS = 1000;
/** Small, so that other operations of the store run between batches. */
const BATCH_KEYS_MAX = 200;
const REMEMBERED_KEYS_MAX = 10_000;

export interface LastUsed {
  note(key: KeyRecord, now: number): void;
  /** Writes the noted times. Rejects if the store fails; the times are then lost. */
  flush(): Promise<void>;
  /** Flushes. Later notes are ignored. */
  close(): Promise<void>;
}

export function createLastUsed(store: KeyStore, onError: (error: unknown) => void): LastUsed {
  const pending = new Map<string, number>();
  // The last use in a record can be older than the time noted here.
  const notedAt = new LRUCache<string, number>({ max: REMEMBERED_KEYS_MAX });
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let lastWrite: Promise<void> = Promise.resolve();

  function note(key: KeyRecord, now: number): void {
    if (closed || isRecent(key.lastUsedAt, now) || isRecent(notedAt.get(key.id), now)) return;
    notedAt.set(key.id, now);
    pending.set(key.id, now);
    timer ??= setTimeout(() => {
      timer = undefined;
      flush().catch(onError);
    }, WRITE_DELAY_MS).unref();
  }

  function flush(): Promise<void> {
    // One write after another: awaiting the last one awaits all.
    lastWrite = lastWrite.catch(() => {}).then(writePending);
    return lastWrite;
  }

  async function writePending(): Promise<void> {
    while (pending.size > 0) {
      const batch = takeBatch(pending);
      await store.touch(batch);
      if (pending.size > 0) await nextTurn();
    }
  }

  function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    return flush();
  }

  return { note, flush, close };
}

function isRecent(usedAt: number | null | undefined, now: number): boolean {
  return usedAt !== null && usedAt !== undefined && now - usedAt < INTERVAL_MS;
}

function takeBatch(pending: Map<string, number>): Map<string, number> {
  const batch = new Map<string, number>();
  for (const [id, usedAt] of pending) {
    batch.set(id, usedAt);
    pending.delete(id);
    if (batch.size === BATCH_KEYS_MAX) break;
  }
  return batch;
}
