/** Step: whose call this is. Runs before the body is read, so that a refused key costs next to nothing. */
import { parseKey } from '../../keys/format.ts';
import type { Client, Keys, RefusedKey } from '../../keys/keys.ts';
import type { Slowdown } from '../../keys/slowdown.ts';
import { StoredPolicyError } from '../../keys/stored-policy.ts';
import type { Awaitable } from '../../stores/ports.ts';
import { delay } from '../../streams/wait.ts';
import { askStore } from '../terms/ask-store.ts';
import { Denial, type DenialMore } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { Exchange } from '../terms/exchange.ts';

export interface RenewDeps {
  keys: Keys;
}

export interface AuthenticateDeps extends RenewDeps {
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

/**
 * Reads the client again, before each of its calls and after each wait: a body may take its time, and a batch its calls.
 * Synchronous while the row of the key is in memory.
 */
export function renewClient(
  client: Client,
  { keys }: RenewDeps,
  { keyHeaders }: Dialect,
): Awaitable<Client | Denial> {
  const found = askStore(() => keys.renew(client), BAD_POLICY);
  return found instanceof Promise
    ? found.then((renewed) => denyUnlessClient(renewed, keyHeaders))
    : denyUnlessClient(found, keyHeaders);
}

function denyUnlessClient(
  found: Client | RefusedKey | Denial,
  keyHeaders: Dialect['keyHeaders'],
): Client | Denial {
  if (found instanceof Denial || !('refused' in found)) return found;
  return denyKey(keyHeaders, { detail: `key ${found.refused} (${found.keyId}) meanwhile` });
}

const BAD_POLICY = { ErrorClass: StoredPolicyError, message: 'The policy of this key cannot be read' };

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

function waitUnlessLeft(delayMs: number, exchange: Exchange): Promise<void> {
  const left = new AbortController();
  exchange.onCallerLeft(() => left.abort());
  return delay(delayMs, left.signal);
}
