/** The headers that say what applies to calls of a batch. They are sent before its calls run. */
import type { AnswerHeaders } from '@erp-proxy/async/streams';
import { Denial } from '../terms/denial.ts';
import type { Operation } from '../terms/operation.ts';
import type { Body } from '../terms/parsed-body.ts';
import type { Request } from '../terms/request.ts';
import { describeLimit, NORMALIZED } from './answer-headers.ts';

/** The limit that the policy sets in a call, and whether values are converted in one. */
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
