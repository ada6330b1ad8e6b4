/**
 * Passes short texts from one process to another through the store of idempotency keys, which all processes share. The
 * receiving process polls for the text.
 */
import { randomUUID } from 'node:crypto';
import type { IdempotencyStore } from '../stores/ports/idempotency.ts';

export interface Relay {
  /**
   * Stores a text under a name that was never used. False: the name has a text already. `client`: id of the client key.
   */
  put(name: string, client: string, text: string): Promise<boolean>;
  /** The text under the name; null: there is none. */
  find(name: string): Promise<string | null>;
}

const FINGERPRINT = 'relay';
const KEPT_MS = 10 * 60_000;

export function createRelay(store: Pick<IdempotencyStore, 'find' | 'claim' | 'complete'>): Relay {
  return {
    async put(id, client, text) {
      const attempt = randomUUID();
      const times = { runsForMs: KEPT_MS, expiresInMs: KEPT_MS };
      if ((await store.claim({ id, client, fingerprint: FINGERPRINT, attempt, ...times })) !== null)
        return false;
      await store.complete(id, attempt, Buffer.from(text), KEPT_MS);
      return true;
    },
    async find(id) {
      const row = await store.find(id);
      return row?.answer ? Buffer.from(row.answer).toString() : null;
    },
  };
}
