/** Step: whose call this is. Runs before the body is read, so that a refused key costs next to nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { KEY_HEADER } from '@erp-proxy/contract';
import type { Keys } from '../keys/keys.ts';
import type { Slowdown } from '../keys/slowdown.ts';
import type { KeyRecord } from '../stores/ports.ts';
import { Denial } from './denial.ts';
import type { Exchange } from './exchange.ts';

export interface AuthenticateDeps {
  keys: Keys;
  slowdown: Slowdown;
}

export async function authenticate(
  exchange: Exchange,
  { keys, slowdown }: AuthenticateDeps,
): Promise<KeyRecord | Denial> {
  const key = await keys.authenticate(exchange.header(KEY_HEADER));
  if (!('refused' in key)) return key;
  // Why it was refused goes to the log alone: callers must not learn which ids exist.
  const detail = key.keyId === null ? `key ${key.refused}` : `key ${key.refused} (${key.keyId})`;
  const penalty = slowdown.penalize(exchange.address);
  if ('retryAfterSeconds' in penalty) {
    return new Denial('rate_limited', 'Too many refused keys; wait before you try again.', {
      detail,
      retryAfterSeconds: penalty.retryAfterSeconds,
      headers: CLOSE,
    });
  }
  if (penalty.delayMs > 0) await waitUnlessLeft(penalty.delayMs, exchange);
  return new Denial(
    'unauthorized',
    `The client key in the header ${KEY_HEADER} is missing or not valid; send one that is.`,
    {
      detail,
    },
  );
}

const CLOSE = { connection: 'close' };

async function waitUnlessLeft(delayMs: number, exchange: Exchange): Promise<void> {
  const left = new AbortController();
  exchange.onCallerLeft(() => left.abort());
  await sleep(delayMs, undefined, { signal: left.signal }).catch(() => {});
}
