/** The bytes of our own answers: the JSON-RPC envelope around a result, and errors made from denials and Odoo's faults. */
import { type ErrorBody, PROXY_ERRORS } from '@erp-proxy/contract';
import type { Denial } from './denial.ts';

/** Bytes of the answer's `id` where the caller's is not known. */
export const NULL_ID: Uint8Array = Buffer.from('null');

const HEAD = Buffer.from('{"jsonrpc":"2.0","id":');
const RESULT = Buffer.from(',"result":');
const ERROR = Buffer.from(',"error":');
const CLOSE = Buffer.from('}');

/** `{"jsonrpc":"2.0","id":…,"result":`; the value and the closing brace follow. */
export function buildResultHead(id: Uint8Array): Buffer {
  return Buffer.concat([HEAD, id, RESULT]);
}

/** A whole answer with an `error` member. */
export function buildErrorAnswer(id: Uint8Array, error: ErrorBody): Buffer {
  return Buffer.concat([HEAD, id, ERROR, Buffer.from(JSON.stringify(error)), CLOSE]);
}

/** The `error` member for a denial. */
export function buildDenialBody(denial: Denial): ErrorBody {
  const row = PROXY_ERRORS[denial.type];
  const { path, outcome } = denial.more;
  return {
    code: row.code,
    message: denial.message,
    data: {
      type: denial.type,
      retryable: denial.retryable,
      ...(path === undefined ? {} : { path }),
      ...('hasOutcome' in row ? { outcome: outcome ?? 'unknown' } : {}),
    },
  };
}
