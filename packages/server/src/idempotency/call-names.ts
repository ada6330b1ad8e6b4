/**
 * How the store knows a call again without holding anything of it: two hashes under a secret, so that whoever reads the
 * store can neither read nor guess a key or a body. The client goes by its public id. Pure.
 */
import { createHmac, createSecretKey } from 'node:crypto';

const KEY_LENGTH_MAX = 255;

export interface CallIdentity {
  /** Id of the client key: each client has idempotency keys of its own. */
  clientId: string;
  /** The text of the header. */
  key: string;
  /** Place in the batch; 0 where the call came alone. */
  index: number;
  /** What kind of call it is. */
  operation: string;
  /** The call's own part of the body. */
  bytes: Uint8Array;
}

export interface CallName {
  /** Of client, key and index. */
  readonly id: string;
  readonly client: string;
  /** Of what was called. */
  readonly fingerprint: string;
}

/** Whether a text can be an idempotency key. */
export function isIdempotencyKey(text: string): boolean {
  return text.length >= 1 && text.length <= KEY_LENGTH_MAX;
}

export function createCallNames(secret: Uint8Array): (call: CallIdentity) => CallName {
  const hashKey = createSecretKey(secret);
  // JSON keeps the parts apart, whatever characters they have.
  const hash = (...parts: (string | number)[]) => createHmac('sha256', hashKey).update(JSON.stringify(parts));
  return ({ clientId, key, index, operation, bytes }) => ({
    id: hash('id', clientId, key, index).digest('hex'),
    client: clientId,
    fingerprint: hash('call', operation).update(bytes).digest('hex'),
  });
}
