/** Step: whose call this is. Runs before the body is read, so that a refused key costs next to nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseKey } from '../../keys/format.ts';
import type { Client, Keys, RefusedKey } from '../../keys/keys.ts';
import type { Slowdown } from '../../keys/slowdown.ts';
import { StoredPolicyError } from '../../keys/stored-policy.ts';
import { askStore } from '../terms/ask-store.ts';
import { Denial, type DenialMore } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { Exchange } from '../terms/exchange.ts';

export interface AuthenticateDeps {
  keys: Keys;
  slowdown: Slowdown;
}

export async function authenticate(
  exchange: Exchange,
  { keys, slowdown }: AuthenticateDeps,
  { keyHeaders }: Dialect,
): Promise<Client | Denial> {
  const text = readKey(exchange, keyHeaders);
  if (text instanceof Denial) return text;
  const found = await askStore(() => keys.authenticate(text), BAD_POLICY);
  if (found instanceof Denial || !('refused' in found)) return found;
  // Why it was refused goes to the log alone: callers must not learn which ids exist.
  const { refused, keyId } = found;
  const refusedKey = nameRefusedKey(found);
  const detail = keyId === null ? `key ${refused}` : `key ${refused} (${keyId})`;
  const penalty = slowdown.penalize(exchange.address);
  if ('retryAfterSeconds' in penalty) {
    return new Denial('rate_limited', 'Too many refused keys; wait before you try again.', {
      detail,
      retryAfterSeconds: penalty.retryAfterSeconds,
      headers: CLOSE,
    });
  }
  if (penalty.delayMs > 0) await waitUnlessLeft(penalty.delayMs, exchange);
  return denyKey(keyHeaders, { detail, ...refusedKey });
}

function denyKey(keyHeaders: Dialect['keyHeaders'], more: Pick<DenialMore, 'detail' | 'refusedKey'>): Denial {
  const message = `The client key in the header ${keyHeaders[0]} is missing or not valid; send one that is.`;
  return new Denial('unauthorized', message, more);
}

function nameRefusedKey({ refused, keyId }: RefusedKey): Pick<DenialMore, 'refusedKey'> {
  if (keyId === null || refused === 'missing' || refused === 'malformed') return {};
  return { refusedKey: { id: keyId, why: refused } };
}

/** The same client as of now, before each of its calls: a body may take its time, and a batch its calls. */
export async function renewClient(
  client: Client,
  { keys }: Pick<AuthenticateDeps, 'keys'>,
  { keyHeaders }: Dialect,
): Promise<Client | Denial> {
  const found = await askStore(() => keys.renew(client), BAD_POLICY);
  if (found instanceof Denial || !('refused' in found)) return found;
  return denyKey(keyHeaders, { detail: `key ${found.refused} (${found.keyId}) meanwhile` });
}

const BAD_POLICY = { Fault: StoredPolicyError, message: 'The policy of this key cannot be read' };

/**
 * The key that the headers agree on. `authorization` may hold a token for a reverse proxy in front of us: beside a key in
 * another header it counts only where it is a client key too.
 */
function readKey(exchange: Exchange, keyHeaders: readonly string[]): string | undefined | Denial {
  let found: string | undefined;
  for (const name of keyHeaders) {
    const key = readKeyHeader(exchange, name);
    if (key === undefined || key === '') continue;
    if (found !== undefined && name === 'authorization' && parseKey(key) === null) continue;
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

/** `authorization` with another scheme is not meant for us (RFC 9110 section 11.4). */
function readKeyHeader(exchange: Exchange, name: string): string | undefined {
  const text = exchange.header(name);
  return name === 'authorization' ? /^bearer +(.*)$/i.exec(text ?? '')?.[1] : text;
}

const CLOSE = { connection: 'close' };

async function waitUnlessLeft(delayMs: number, exchange: Exchange): Promise<void> {
  const left = new AbortController();
  exchange.onCallerLeft(() => left.abort());
  await sleep(delayMs, undefined, { signal: left.signal }).catch(() => {});
}
