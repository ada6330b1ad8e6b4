/**
 * Idempotency keys: a call that comes again under its key gets the answer of the first time and is not run again. Knows
 * neither HTTP nor Odoo, nor which store it is: whoever runs the call says how an attempt ended.
 */
import type { IdempotencyStore } from '../stores/ports.ts';
import { RecordingRoom } from './answer-recorder.ts';
import { createAnswerSeal } from './answer-seal.ts';
import { type CallIdentity, createCallNames } from './call-names.ts';
import { type ClientBounds, ClientUse } from './client-use.ts';
import { IdempotentCall } from './idempotent-call.ts';
import { PendingReleases } from './pending-releases.ts';
import { startPruning } from './pruning.ts';

export interface IdempotencyOptions {
  store: IdempotencyStore;
  /** 32 bytes, the same on every replica: names and seals what is stored. */
  secret: Uint8Array;
  /** How long an answer is kept, and how long a call whose outcome is unknown stays known as such. */
  keptForMs: number;
  /** Longest answer that is kept. */
  answerBytesMax: number;
  /** Of one client key. */
  clientBounds: ClientBounds;
  /** A clock that never goes back, in milliseconds. */
  nowMs: () => number;
  /** Told of what goes wrong after the call, which its caller is not told of. */
  onError: (error: unknown) => void;
}

export interface Idempotency {
  /** One attempt at a call that came with an idempotency key. */
  begin(call: CallIdentity): IdempotentCall;
  /** The store stays open. */
  close(): Promise<void>;
}

/** Memory for answers that are being recorded, of all calls together. */
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
  const room = new RecordingRoom(RECORDING_BYTES_MAX);
  const use = new ClientUse(store, clientBounds, nowMs);
  const releases = new PendingReleases(store);
  const pruning = startPruning(store, onError);
  return {
    begin: (call) =>
      new IdempotentCall(nameCall(call), {
        store,
        seal,
        room,
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
