/** Headers that every answer to a known key has: the time it took, the age of a kept answer, the limits of the key. */
import type { AnswerHeaders } from '@erp-proxy/async/streams';
import { LIMIT_HEADER, NULL_FIELD_HEADER } from '@erp-proxy/contract';
import type { CallTrace } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Operation } from '../terms/operation.ts';
import type { Body } from '../terms/parsed-body.ts';
import type { Request } from '../terms/request.ts';

/** `trace` is that of the single call. It is absent for a batch and for a refused request. */
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

/** The header of an answer whose values are normalized. */
export const NORMALIZED: AnswerHeaders = { 'preference-applied': 'values=normalized' };

/** The header for a limit that a policy has set. */
export function describeLimit(limit: number | null): AnswerHeaders {
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
