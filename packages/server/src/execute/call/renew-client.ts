/**
 * Reads the client again before each of its calls and after each wait, because the key may have changed, or the token
 * expired, while the body arrived, or while other calls of the batch ran.
 */
import type { Clients, Refusal } from '../../keys/clients.ts';
import type { Client } from '../../keys/keys.ts';
import { PROXY_CLIENT } from '../../keys/proxy-client.ts';
import { type Awaitable, andThen } from '../../streams/and-then.ts';
import { askStore } from '../terms/ask-store.ts';
import { denyClient, UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';

export interface RenewDeps {
  clients: Clients;
}

/** Returns the same object if nothing has changed. Synchronous while the row of the key is in memory. */
export function renewClient(
  client: Client,
  { clients }: RenewDeps,
  dialect: Dialect,
): Awaitable<Client | Denial> {
  // The proxy itself is no stored client.
  if (client === PROXY_CLIENT) return client;
  return andThen(
    askStore(() => clients.renew(client), UNREADABLE_POLICY),
    (renewed) => denyUnlessClient(renewed, dialect),
  );
}

function denyUnlessClient(found: Client | Refusal | Denial, dialect: Dialect): Client | Denial {
  if (found instanceof Denial || !('refused' in found)) return found;
  return denyClient(found, dialect, 'meanwhile');
}
