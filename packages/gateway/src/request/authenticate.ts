/** Step: finds the client by key or token. Runs before the body is read, so that a refusal costs next to nothing. */

import { delay } from '@erp-proxy/async/tasks';
import type { Client, Clients, Refusal, Slowdown } from '@erp-proxy/control/keys';
import { askStore } from '../terms/ask-store.ts';
import { denyClient, UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { Exchange } from '../terms/exchange.ts';
import { readKey } from '../terms/read-key.ts';

export interface AuthenticateDeps {
  clients: Clients;
  slowdown: Slowdown;
}

export async function authenticate(
  exchange: Exchange,
  deps: AuthenticateDeps,
  dialect: Dialect,
): Promise<Client | Denial> {
  const text = readKey(exchange, dialect);
  if (text instanceof Denial) return text;
  const found = await askStore(() => deps.clients.authenticate(text), UNREADABLE_POLICY);
  if (found instanceof Denial) return found;
  if ('refused' in found) return await refuse(found, exchange, deps, dialect);
  const lacking = findMissingScope(found, dialect);
  return lacking === null ? found : await refuse(lacking, exchange, deps, dialect);
}

function findMissingScope({ key, scopes }: Client, { scope }: Dialect): Refusal | null {
  if (scopes === undefined || scopes.includes(scope)) return null;
  const detail = `the application was not allowed the scope ${scope}`;
  return { refused: 'token', why: 'insufficient_scope', keyId: key.id, detail, scopes: [scope] };
}

async function refuse(
  found: Refusal,
  exchange: Exchange,
  { slowdown }: AuthenticateDeps,
  dialect: Dialect,
): Promise<Denial> {
  const denial = denyClient(found, dialect);
  if (denial.type !== 'unauthorized') return denial;
  const penalty = slowdown.penalize(exchange.address ?? '');
  if ('retryAfterSeconds' in penalty) {
    return new Denial('rate_limited', 'Too many refused keys; wait before you try again.', {
      ...(denial.more.detail === undefined ? {} : { detail: denial.more.detail }),
      retryAfterSeconds: penalty.retryAfterSeconds,
      headers: CLOSE,
    });
  }
  if (penalty.delayMs > 0) await waitUnlessLeft(penalty.delayMs, exchange);
  return denial;
}

const CLOSE = { connection: 'close' };

function waitUnlessLeft(delayMs: number, exchange: Exchange): Promise<void> {
  const left = new AbortController();
  exchange.onCallerLeft(() => left.abort());
  return delay(delayMs, left.signal);
}
