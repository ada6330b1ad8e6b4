/** Step: finds the client by key or token. Runs before the body is read, so that a refusal costs next to nothing. */

import { delay } from '@erp-proxy/async/tasks';
import type { Client, Clients, Refusal, Slowdown } from '@erp-proxy/control/keys';
import { parseKey } from '@erp-proxy/control/keys/format';
import { askStore } from '../terms/ask-store.ts';
import { denyClient, UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { Exchange } from '../terms/exchange.ts';

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
  if (found instanceof Denial || !('refused' in found)) return found;
  return await refuse(found, exchange, deps, dialect);
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

/**
 * Reads the key, which must be the same in all headers. `authorization` may have a token for a reverse proxy in front
 * of this one, so beside a key in another header it counts only if it has the form of a client key. A dialect without
 * such tokens counts each.
 */
function readKey(
  exchange: Exchange,
  { keyHeaders, allowsOtherTokens }: Dialect,
): string | undefined | Denial {
  let found: string | undefined;
  for (const name of keyHeaders) {
    const key = readKeyHeader(exchange, name);
    if (key === undefined || key === '') continue;
    const mayBeOther = allowsOtherTokens && name === 'authorization' && found !== undefined;
    if (mayBeOther && parseKey(key) === null) continue;
    if (found !== undefined && found !== key) {
      return new Denial(
        'invalid_request',
        `Two headers have different client keys; send one of ${keyHeaders.join(', ')}.`,
      );
    }
    found = key;
  }
  return found;
}

/** Ignores `authorization` with a scheme other than Bearer (RFC 9110 section 11.4). */
function readKeyHeader(exchange: Exchange, name: string): string | undefined {
  const text = exchange.header(name);
  return name === 'authorization' ? /^bearer +(.*)$/i.exec(text ?? '')?.[1] : text;
}

const CLOSE = { connection: 'close' };

function waitUnlessLeft(delayMs: number, exchange: Exchange): Promise<void> {
  const left = new AbortController();
  exchange.onCallerLeft(() => left.abort());
  return delay(delayMs, left.signal);
}
