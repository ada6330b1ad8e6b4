/** Reads the headers of a request that are about its calls: idempotency key, approvals, preferences. */

import { APPROVAL_HEADER, BATCH_CALLS_MAX } from '@erp-proxy/contract';
import { isApprovalId } from '@erp-proxy/control/approvals';
import { isIdempotencyKey } from '@erp-proxy/traffic/idempotency';
import { Denial } from '../terms/denial.ts';
import type { Exchange } from '../terms/exchange.ts';

const IDEMPOTENCY_HEADER = 'idempotency-key';

/** Reads the header `idempotency-key`. Null if the caller sent none. */
export function readIdempotencyKey(exchange: Exchange): string | null | Denial {
  const key = exchange.header(IDEMPOTENCY_HEADER);
  if (key === undefined) return null;
  const count = exchange.countHeader(IDEMPOTENCY_HEADER);
  if (count > 1) {
    const message = `The header \`${IDEMPOTENCY_HEADER}\` comes ${count} times; send it once, so that a retry has the same key.`;
    return new Denial('invalid_request', message, { path: IDEMPOTENCY_HEADER });
  }
  if (isIdempotencyKey(key)) return key;
  const message = `The header \`${IDEMPOTENCY_HEADER}\` must have 1 to 255 characters; this one has ${key.length}.`;
  return new Denial('invalid_request', message, { path: IDEMPOTENCY_HEADER });
}

/** Reads the header `x-approval`: ids of approvals, separated by commas. Empty if the caller sent none. */
export function readApprovalIds(exchange: Pick<Exchange, 'header'>): readonly string[] | Denial {
  const text = exchange.header(APPROVAL_HEADER);
  if (text === undefined || text === '') return [];
  // Limits the work before the text is split.
  const ids = text.length > APPROVALS_LENGTH_MAX ? [] : text.split(',').map((id) => id.trim());
  if (ids.length >= 1 && ids.length <= BATCH_CALLS_MAX && ids.every(isApprovalId)) return ids;
  const message = `The header \`${APPROVAL_HEADER}\` must have at most ${BATCH_CALLS_MAX} ids of approvals, separated by commas, as in \`data.approval\` of the error \`approval_required\`.`;
  return new Denial('invalid_request', message, { path: APPROVAL_HEADER });
}

const APPROVALS_LENGTH_MAX = 8 * 1024;

/**
 * Whether the caller prefers normalized values, by the header `prefer` (RFC 7240). Unknown preferences are ignored, as
 * the RFC demands. Names of preferences are case-insensitive, values are not.
 */
export function prefersNormalized(exchange: Pick<Exchange, 'header'>): boolean {
  const header = exchange.header('prefer');
  if (header === undefined) return false;
  // The first of several preferences with one name counts (RFC 7240, section 2).
  const values = header.split(',').map((preference) => /^\s*values\s*=([^;]*)/i.exec(preference)?.[1]);
  const first = values.find((value) => value !== undefined);
  return first !== undefined && /^\s*(normalized|"normalized")\s*$/.test(first);
}

/**
 * Whether the caller prefers not to wait: `prefer: respond-async` (RFC 7240, section 4.1). A parameter `callback`
 * asks for a notice of the end.
 */
export function readAsyncPreference(exchange: Pick<Exchange, 'header'>): { callback: string | null } | null {
  const header = exchange.header('prefer');
  if (header === undefined) return null;
  for (const preference of header.split(',')) {
    const [name = '', ...parameters] = preference.split(';').map((part) => part.trim());
    if (name.toLowerCase() !== 'respond-async') continue;
    const given = parameters.map((parameter) => CALLBACK.exec(parameter)).find((found) => found !== null);
    return { callback: given?.[1] ?? given?.[2] ?? null };
  }
  return null;
}

const CALLBACK = /^callback\s*=\s*(?:"([^"]*)"|([^"\s]*))$/i;
