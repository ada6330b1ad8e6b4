/**
 * Idempotency keys: a retry with the same key gets the answer of the first attempt, and the call does not run again.
 * Must know neither HTTP, nor Odoo, nor the engine of the store. The caller says how an attempt ended.
 */

import { randomUUID } from 'node:crypto';
import type { IdempotencyStore } from '@erp-proxy/stores/ports';
import { RecordingBudget } from './answer-recorder.ts';
import { createAnswerSeal } from './answer-seal.ts';
import { type CallIdentity, createCallNames } from './call-names.ts';
import { type ClientBounds, ClientUse } from './client-use.ts';
import { IdempotentCall } from './idempotent-call.ts';
import { PendingReleases } from './pending-releases.ts';
import { startPruning } from './pruning.ts';

export interface IdempotencyOptions {
  store: IdempotencyStore;
  /** 32 bytes, the same on every replica, to hash and seal stored data. */
  secret: Uint8Array;
  /** Milliseconds for which an answer, or an unknown outcome, is stored. */
  keptForMs: number;
  /** Maximum size of a stored answer. */
  answerBytesMax: number;
  /** Limits for each client key. */
  clientBounds: ClientBounds;
  /** A monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Called with errors of the store that no caller sees. */
  onError: (error: unknown) => void;
}

export interface Idempotency {
  /** Begins one attempt at a call with an idempotency key. */
  begin(call: CallIdentity): IdempotentCall;
  /** Ends the background tasks. The store stays open. */
  close(): Promise<void>;
}

/** Maximum memory for the answers that all calls are recording. */
const RECORDING_BYTES_MAX = 64 * 1024 * 1024;

export function createIdempotency({
  store,
  secret,
  keptForMs,
  answerBytesMax,
  clientBounds,
  nowMs,
  onError,
}: IdempotencyOptions): Idempotency {
  const nameCall = createCallNames(secret);
  const seal = createAnswerSeal(secret);
  const budget = new RecordingBudget(RECORDING_BYTES_MAX);
  const use = new ClientUse(store, clientBounds, nowMs);
  const releases = new PendingReleases(store);
  const pruning = startPruning(store, onError);
  return {
    begin: (call) =>
      new IdempotentCall(nameCall(call), {
        store,
        seal,
        budget,
        use,
        releases,
        keptForMs,
        answerBytesMax,
        onError,
      }),
    async close() {
      await Promise.all([releases.close(), pruning.close()]);
    },
  };
}

/**
 * Passes short texts from one process to another through the store of idempotency keys, which all processes share. The
 * receiving process polls for the text.
 */
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
