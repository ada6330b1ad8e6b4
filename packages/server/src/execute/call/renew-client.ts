/**
 * Reads the client again before each of its calls and after each wait, because the key may have changed, or the token
 * expired, while the body arrived, or while other calls of the batch ran.
 */
import type { Clients } from '../../keys/clients.ts';
import type { Client } from '../../keys/keys.ts';
import { PROXY_CLIENT } from '../../keys/proxy-client.ts';
import { askStore } from '../terms/ask-store.ts';
import { denyClient, UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';

export interface RenewDeps {
  clients: Clients;
}

/** Returns the same object if nothing has changed. */
export async function renewClient(
  client: Client,
  { clients }: RenewDeps,
  dialect: Dialect,
): Promise<Client | Denial> {
  // The proxy itself is no stored client.
  if (client === PROXY_CLIENT) return client;
  const renewed = await askStore(() => clients.renew(client), UNREADABLE_POLICY);
  if (renewed instanceof Denial || !('refused' in renewed)) return renewed;
  return denyClient(renewed, dialect, 'meanwhile');
}
