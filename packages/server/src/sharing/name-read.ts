/** Names a read by all that its answer depends on: reads of one name may have one answer. Holds none of it. */
import { hash } from 'node:crypto';

export interface NamedRead {
  /** Server, database, user and key, as a hash under a secret: who has it not cannot guess what a name stands for. */
  credentialsId: string;
  /** The stored instance; null where the call brought its own. Instances differ in protocol and trust. */
  instanceId: string | null;
  model: string;
  method: string;
  /** The arguments as they are sent: what a policy adds or cuts is in them. */
  params: Uint8Array;
  keyword: Uint8Array;
}

/** Arguments that are longer would take longer to hash than sharing them is worth. */
const ARGUMENT_BYTES_MAX = 256 * 1024;

/** Null where the read is too long to be named. */
export function nameRead(read: NamedRead): string | null {
  const { credentialsId, instanceId, model, method, params, keyword } = read;
  if (params.length + keyword.length > ARGUMENT_BYTES_MAX) return null;
  const head = Buffer.from(JSON.stringify([credentialsId, instanceId, model, method, params.length]));
  return hash('sha256', Buffer.concat([head, params, keyword]), 'base64');
}
