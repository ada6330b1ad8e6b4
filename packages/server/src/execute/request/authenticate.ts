/** Step: finds the client key. Runs before the body is read, so that a refused key costs next to nothing. */
import { parseKey } from '../../keys/format.ts';
import type { Client, Keys, RefusedKey } from '../../keys/keys.ts';
import type { Slowdown } from '../../keys/slowdown.ts';
import { type Awaitable, andThen } from '../../streams/and-then.ts';
import { delay } from '../../streams/wait.ts';
import { askStore } from '../terms/ask-store.ts';
import { denyKey, UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial, type DenialMore } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { Exchange } from '../terms/exchange.ts';

export interface AuthenticateDeps {
  keys: Keys;
  slowdown: Slowdown;
}

/** Synchronous if the key is valid and in memory. */
export function authenticate(
  exchange: Exchange,
  deps: AuthenticateDeps,
  dialect: Dialect,
): Awaitable<Client | Denial> {
  const text = readKey(exchange, dialect.keyHeaders);
  if (text instanceof Denial) return text;
  return andThen(
    askStore(() => deps.keys.authenticate(text), UNREADABLE_POLICY),
    (found) =>
      found instanceof Denial || !('refused' in found) ? found : refuseKey(found, exchange, deps, dialect),
  );
}

async function refuseKey(
  found: RefusedKey,
  exchange: Exchange,
  { slowdown }: AuthenticateDeps,
  dialect: Dialect,
): Promise<Denial> {
  // The reason goes only to the log, because callers must not learn which ids exist.
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
  return denyKey(dialect, { detail, ...refusedKey });
}

function nameRefusedKey({ refused, keyId }: RefusedKey): Pick<DenialMore, 'refusedKey'> {
  if (keyId === null || refused === 'missing' || refused === 'malformed') return {};
  return { refusedKey: { id: keyId, why: refused } };
}

/**
 * Reads the key, which must be the same in all headers. `authorization` may have a token for a reverse proxy in front
 * of this one, so beside a key in another header it counts only if it has the form of a client key.
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
