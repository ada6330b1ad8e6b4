/**
 * Names a call for the store by two hashes under a secret. A reader of the store can neither read nor guess a key or a
 * body. The client is stored as its public id. Pure.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

const KEY_LENGTH_MAX = 255;

export interface CallIdentity {
  /** Id of the client key: each client has idempotency keys of its own. */
  clientId: string;
  /** The text of the header. */
  key: string;
  /** Position in the batch; 0 for a single call. */
  index: number;
  /** Kind of call, with its target. */
  operation: string;
  /** The part of the body that is this call. */
  bytes: Uint8Array;
}

export interface CallName {
  /** Hash of client, key and index. */
  readonly id: string;
  readonly client: string;
  /** Hash of the call. */
  readonly fingerprint: string;
}

export function isIdempotencyKey(text: string): boolean {
  return text.length >= 1 && text.length <= KEY_LENGTH_MAX;
}

/** Bytes that are hashed in one turn of the event loop: about 1 ms. */
const SLICE_BYTES = 512 * 1024;

/** The names of long calls take several turns of the event loop. */
export function createCallNames(secret: Uint8Array): (call: CallIdentity) => Promise<CallName> {
  const hashKey = createSecretKey(secret);
  // JSON keeps the parts apart, whatever characters they contain.
  const hash = (...parts: (string | number)[]) => createHmac('sha256', hashKey).update(JSON.stringify(parts));
  return async ({ clientId, key, index, operation, bytes }) => {
    const id = hash('id', clientId, key, index).digest('hex');
    const fingerprint = hash('call', operation);
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      if (at > 0) await nextTurn();
      fingerprint.update(bytes.subarray(at, at + SLICE_BYTES));
    }
    return { id, client: clientId, fingerprint: fingerprint.digest('hex') };
  };
}
