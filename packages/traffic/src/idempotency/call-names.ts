/**
 * Names a call for the store by two hashes with a secret. Whoever reads the store can neither read nor guess an
 * idempotency key or a body. The client is stored as its public id. Pure.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

const KEY_LENGTH_MAX = 255;

export interface CallIdentity {
  /** Id of the client key: each client has its own idempotency keys. */
  clientId: string;
  /** The text of the header `idempotency-key`. */
  key: string;
  /** Position in the batch; 0 for a single call. */
  index: number;
  /** Kind of the call, with its target. */
  operation: string;
  /** The part of the body that is this call. */
  bytes: Uint8Array;
}

export interface CallName {
  /** Hash of `clientId`, `key` and `index`. */
  readonly id: string;
  readonly client: string;
  /** Hash of the call. */
  readonly fingerprint: string;
}

export function isIdempotencyKey(text: string): boolean {
  return text.length >= 1 && text.length <= KEY_LENGTH_MAX;
}

/** Number of bytes that are hashed in one turn of the event loop, which takes about 1 ms. */
const SLICE_BYTES = 512 * 1024;

/** Returns a function that names a call. The name of a long call takes several turns of the event loop. */
export function createCallNames(secret: Uint8Array): (call: CallIdentity) => Promise<CallName> {
  const hashKey = createSecretKey(secret);
  // JSON separates the parts, whatever characters they contain.
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
