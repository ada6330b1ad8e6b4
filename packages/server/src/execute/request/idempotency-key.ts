/** Reads the header `idempotency-key`. */
import { isIdempotencyKey } from '../../idempotency/call-names.ts';
import { Denial } from '../terms/denial.ts';
import type { Exchange } from '../terms/exchange.ts';

const HEADER = 'idempotency-key';

/** Null if the caller sent none. */
export function readIdempotencyKey(exchange: Exchange): string | null | Denial {
  const key = exchange.header(HEADER);
  if (key === undefined) return null;
  const count = exchange.countHeader(HEADER);
  if (count > 1) {
    const message = `The header \`${HEADER}\` comes ${count} times; send it once, so that a retry has the same key.`;
    return new Denial('invalid_request', message, { path: HEADER });
  }
  if (isIdempotencyKey(key)) return key;
  const message = `The header \`${HEADER}\` must have 1 to 255 characters; this one has ${key.length}.`;
  return new Denial('invalid_request', message, { path: HEADER });
}
