/** Builds the bytes of answers: the JSON-RPC envelope around a result, and errors from denials and Odoo's faults. */
import { ALL_ERRORS, type ErrorBody } from '@erp-proxy/contract';
import type { Denial } from '../terms/denial.ts';
import { type Dialect, nameMembers } from '../terms/dialect.ts';

const HEAD = Buffer.from('{"jsonrpc":"2.0","id":');
const RESULT = Buffer.from(',"result":');
const ERROR = Buffer.from(',"error":');
const CLOSE = Buffer.from('}');

/** Builds `{"jsonrpc":"2.0","id":…,"result":`. The value and the closing brace must follow. */
export function buildResultHead(id: Uint8Array): Buffer {
  return Buffer.concat([HEAD, id, RESULT]);
}

/** Builds a complete answer. `pieces` and `tail` are the value and the closing brace. */
export function buildResultAnswer(id: Uint8Array, pieces: readonly Uint8Array[], tail: Uint8Array): Buffer {
  return Buffer.concat([HEAD, id, RESULT, ...pieces, tail]);
}

/** Builds a complete answer with an `error` member. */
export function buildErrorAnswer(id: Uint8Array, error: ErrorBody): Buffer {
  return Buffer.concat([HEAD, id, ERROR, Buffer.from(JSON.stringify(error)), CLOSE]);
}

/** The HTTP status and the `error` member for a denial. */
export function describeDenial(denial: Denial, dialect: Dialect): { httpStatus: number; error: ErrorBody } {
  const row = ALL_ERRORS[denial.type];
  const { path, rule, approval, outcome, passedStatus } = denial.more;
  const { code, httpStatus } =
    passedStatus === undefined
      ? (dialect.errors[denial.type] ?? row)
      : { code: passedStatus, httpStatus: 200 };
  const error = {
    code,
    message: nameMembers(denial.message, dialect),
    data: {
      type: denial.type,
      retryable: denial.retryable,
      ...(path === undefined ? {} : { path: nameMembers(path, dialect) }),
      ...(rule === undefined ? {} : { rule }),
      ...(approval === undefined ? {} : { approval }),
      ...(row.hasOutcome ? { outcome: outcome ?? ('unknown' as const) } : {}),
    },
  };
  return { httpStatus, error };
}

/** Headers that an answer with a denial must carry. */
export function listDenialHeaders({ more }: Denial): Record<string, string> {
  const { retryAfterSeconds, headers } = more;
  return {
    ...headers,
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  };
}
