/**
 * Names a call for the store by two hashes under a secret. A reader of the store can neither read nor guess a key or a
 * body. The client is stored as its public id. Pure.
 */
import { createHmac, createSecretKey } from 'node:crypto';

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

export function createCallNames(secret: Uint8Array): (call: CallIdentity) => CallName {
  const hashKey = createSecretKey(secret);
  // JSON keeps the parts apart, whatever characters they contain.
  const hash = (...parts: (string | number)[]) => createHmac('sha256', hashKey).update(JSON.stringify(parts));
  return ({ clientId, key, index, operation, bytes }) => ({
    id: hash('id', clientId, key, index).digest('hex'),
    client: clientId,
    fingerprint: hash('call', operation).update(bytes).digest('hex'),
  });
}
