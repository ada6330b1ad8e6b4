/**
 * Reads the client again before each of its calls and after each wait, because the key may have changed while the body
 * arrived, or while other calls of the batch ran.
 */
import type { Client, Keys, RefusedKey } from '../../keys/keys.ts';
import { type Awaitable, andThen } from '../../streams/and-then.ts';
import { askStore } from '../terms/ask-store.ts';
import { denyKey, UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';

export interface RenewDeps {
  keys: Keys;
}

/** Returns the same object if nothing has changed. Synchronous while the row of the key is in memory. */
export function renewClient(
  client: Client,
  { keys }: RenewDeps,
  dialect: Dialect,
): Awaitable<Client | Denial> {
  return andThen(
    askStore(() => keys.renew(client), UNREADABLE_POLICY),
    (renewed) => denyUnlessClient(renewed, dialect),
  );
}

function denyUnlessClient(found: Client | RefusedKey | Denial, dialect: Dialect): Client | Denial {
  if (found instanceof Denial || !('refused' in found)) return found;
  return denyKey(dialect, { detail: `key ${found.refused} (${found.keyId}) meanwhile` });
}
