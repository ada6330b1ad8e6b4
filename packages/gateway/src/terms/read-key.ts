/** Reads the client key or token of a request from its headers. */
import { parseKey } from '@erp-proxy/control/keys/format';
import { Denial } from './denial.ts';
import type { Dialect } from './dialect.ts';
import type { Exchange } from './exchange.ts';

/**
 * Reads the key, which must be the same in all headers. `authorization` may have a token for a reverse proxy in front
 * of this one, so beside a key in another header it counts only if it has the form of a client key. A dialect without
 * such tokens counts each.
 */
export function readKey(
  exchange: Pick<Exchange, 'header'>,
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

/** The token of an identity provider that the caller has sent; null: the caller has sent a client key. */
export function readToken(exchange: Pick<Exchange, 'header'>, dialect: Dialect): string | null {
  const text = readKey(exchange, dialect);
  return typeof text !== 'string' || parseKey(text) !== null ? null : text;
}

/** Ignores `authorization` with a scheme other than Bearer (RFC 9110 section 11.4). */
function readKeyHeader(exchange: Pick<Exchange, 'header'>, name: string): string | undefined {
  const text = exchange.header(name);
  return name === 'authorization' ? /^bearer +(.*)$/i.exec(text ?? '')?.[1] : text;
}
