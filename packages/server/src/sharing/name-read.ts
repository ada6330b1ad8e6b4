/** Names a read by a hash of everything that its answer depends on. Reads with the same name can share one answer. */
import { hash } from 'node:crypto';

export interface NamedRead {
  /**
   * Keyed hash of server, database, user and API key. Without the secret, it cannot be guessed what a name stands for.
   */
  credentialsId: string;
  /** The stored instance; null if the call has its own credentials. Instances differ in protocol and trust. */
  instanceId: string | null;
  model: string;
  method: string;
  /** The positional arguments as they are sent, after the policy was applied. */
  params: Uint8Array;
  keyword: Uint8Array;
}

/** Hashing longer arguments would cost more than sharing saves. */
const ARGUMENT_BYTES_MAX = 256 * 1024;

/** Returns the name of a read; null if the arguments are too long to be hashed. */
export function nameRead(read: NamedRead): string | null {
  const { credentialsId, instanceId, model, method, params, keyword } = read;
  if (params.length + keyword.length > ARGUMENT_BYTES_MAX) return null;
  const head = Buffer.from(JSON.stringify([credentialsId, instanceId, model, method, params.length]));
  return hash('sha256', Buffer.concat([head, params, keyword]), 'base64');
}
