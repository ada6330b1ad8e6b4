/** Finds the client in whose name a subscription reads and sends. */
import type { Client, Keys } from '../../keys/keys.ts';
import { PROXY_CLIENT } from '../../keys/proxy-client.ts';
import { StoredPolicyError } from '../../keys/stored-policy.ts';
import type { ReadRefusal } from '../../subscriptions/change-reader.ts';
import type { RecordSubscription } from '../../subscriptions/row.ts';

export async function findClient(
  { key }: Pick<RecordSubscription, 'key'>,
  keys: Pick<Keys, 'findClient'>,
): Promise<Client | ReadRefusal> {
  if (key === null) return PROXY_CLIENT;
  try {
    const found = await keys.findClient(key);
    return 'refused' in found ? explainKey(key, found.refused) : found;
  } catch (error) {
    const problem =
      error instanceof StoredPolicyError
        ? error.message
        : 'The store does not answer, so that the key cannot be read.';
    return { problem, isKeyOver: false };
  }
}

function explainKey(key: string, refused: string): ReadRefusal {
  const why = refused === 'unknown' ? 'does not exist' : `is ${refused}`;
  return {
    problem: `The key ${key} ${why}: give the subscription another one, then resume it.`,
    isKeyOver: true,
  };
}
