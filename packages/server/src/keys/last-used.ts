/**
 * Writes down when a key was last used, in the background and at most once a minute a key: a call must never wait for
 * it, and must not fail because of it. Knows nothing of whether a key is valid.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { KeyRecord, KeyStore } from '../stores/ports.ts';

const INTERVAL_MS = 60_000;
const WRITE_DELAY_MS = 1000;
/** Small, so that other operations of the store run in between. */
const BATCH_KEYS_MAX = 200;
const REMEMBERED_KEYS_MAX = 10_000;

export interface LastUsed {
  note(key: KeyRecord, now: number): void;
  /** Writes what is noted; rejects where the store fails, which loses those notes. */
  flush(): Promise<void>;
  /** Flushes, and notes no more. */
  close(): Promise<void>;
}

export function createLastUsed(store: KeyStore, onError: (error: unknown) => void): LastUsed {
  const pending = new Map<string, number>();
  // What a record says of its last use can be older than what was noted here.
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
    // One after the other, so that who awaits the last has awaited all.
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
