/**
 * Builds the parts of answers: the JSON-RPC envelope around a result, errors from denials and Odoo's faults, and the
 * headers of our own.
 */

import type { AnswerHeaders } from '@erp-proxy/async/streams';
import { ALL_ERRORS, type ErrorBody, LIMIT_HEADER, NULL_FIELD_HEADER } from '@erp-proxy/contract';
import type { CallTrace } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import { type Dialect, nameMembers } from '../terms/dialect.ts';
import type { Operation } from '../terms/operation.ts';
import type { Body } from '../terms/parsed-body.ts';
import type { Request } from '../terms/request.ts';

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
  const { path, rule, approval, connectUrl, outcome, passedStatus } = denial.more;
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
      ...(connectUrl === undefined ? {} : { connect_url: connectUrl }),
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

/**
 * Headers that every answer to a known key has: the time it took, the age of a kept answer, the limits of the key.
 * `trace` is that of the single call. It is absent for a batch and for a refused request.
 */
export function describeRequest(
  { startedMs, keyAdmission }: Pick<Request, 'startedMs' | 'keyAdmission'>,
  nowMs: number,
  trace?: CallTrace,
): AnswerHeaders {
  const ageMs = trace?.ageMs ?? null;
  const limit = trace?.policyLimit ?? null;
  const headers: AnswerHeaders = { 'server-timing': describeTiming(startedMs, nowMs, trace) };
  if (ageMs !== null) headers['age'] = String(Math.floor(ageMs / 1000));
  if (limit !== null) headers[LIMIT_HEADER] = String(limit);
  if (trace?.areValuesNormalized === true) Object.assign(headers, NORMALIZED);
  Object.assign(headers, describeNullField(trace?.nullField ?? null));
  return keyAdmission === null ? headers : { ...headers, ...keyAdmission.describe() };
}

/** Headers of the answer to a call that its request makes, without those of the request. */
export function describeCall({ policyLimit, areValuesNormalized, nullField }: CallTrace): AnswerHeaders {
  const applied = areValuesNormalized ? NORMALIZED : {};
  return { ...describeLimit(policyLimit), ...applied, ...describeNullField(nullField) };
}

/** The header of an answer whose values are normalized. */
export const NORMALIZED: AnswerHeaders = { 'preference-applied': 'values=normalized' };

/** The header for a limit that a policy has set. */
function describeLimit(limit: number | null): AnswerHeaders {
  return limit === null ? {} : { [LIMIT_HEADER]: String(limit) };
}

/** The header for a field in which null stands for a NaN or an Infinity. */
export function describeNullField(field: string | null): AnswerHeaders {
  return field === null ? {} : { [NULL_FIELD_HEADER]: field };
}

/** `server-timing`: the wait for the database, the time of Odoo up to the head of its answer, and the rest. */
function describeTiming(startedMs: number, nowMs: number, trace: CallTrace | undefined): string {
  const totalMs = nowMs - startedMs;
  const queuedMs = trace?.queuedMs ?? 0;
  const queue = trace?.queuedMs == null ? '' : `queue;dur=${queuedMs.toFixed(1)}, `;
  if (trace === undefined || trace.sentMs === null)
    return `${queue}proxy;dur=${(totalMs - queuedMs).toFixed(1)}`;
  const upstreamMs = (trace.answeredMs ?? nowMs) - trace.sentMs;
  const restMs = totalMs - upstreamMs - queuedMs;
  return `${queue}upstream;dur=${upstreamMs.toFixed(1)};desc="${trace.protocol}", proxy;dur=${restMs.toFixed(1)}`;
}

/**
 * The headers for a batch, which are sent before its calls run: the limit that the policy sets in a call, and whether
 * values are converted in one.
 */
export async function describeBatch(
  { parse, authorize, hasValues }: Operation,
  { bytes, calls }: Body,
  { client, dialect, time: { signal } }: Request,
  areValuesNormalized: boolean,
): Promise<AnswerHeaders> {
  let limitFrom = client!.policy?.policy.limit_max === undefined ? null : client!;
  let isAsked = areValuesNormalized && hasValues !== undefined;
  let headers: AnswerHeaders = {};
  for (const span of calls) {
    if (limitFrom === null && !isAsked) break;
    const { call } = await parse(bytes, span, dialect, signal);
    if (call instanceof Denial) continue;
    if (isAsked && hasValues!(call)) {
      isAsked = false;
      headers = { ...headers, ...NORMALIZED };
    }
    const allowed = limitFrom === null ? call : await authorize(call, limitFrom, 'unconverted', signal);
    if (allowed instanceof Denial || allowed.policyLimit === undefined) continue;
    limitFrom = null;
    headers = { ...headers, ...describeLimit(allowed.policyLimit) };
  }
  return headers;
}
