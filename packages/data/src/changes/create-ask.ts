/** Makes the calls that read changes, and returns the server's clock, or the cause of a failure, with each answer. */

import { LIMIT_HEADER } from '@erp-proxy/contract';
import type { CallRunner } from '@erp-proxy/gateway/terms';
import { readHttpDate } from '@erp-proxy/text';
import { askOdoo, type QuestionFailure } from '../ask-odoo.ts';
import type { DataRequest } from '../data-request.ts';
import type { Ask } from './terms.ts';

/** Maximum bytes of an answer of Odoo. A larger page is read again with fewer records. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * `nowMs`: monotonic clock in milliseconds. `onNull` is called with each field that has null in place of NaN or
 * Infinity.
 */
export function createAsk(
  data: DataRequest,
  runner: CallRunner,
  nowMs: () => number,
  onNull: (field: string) => void = () => {},
): Ask<QuestionFailure> {
  return async (question) => {
    const startedMs = nowMs();
    const asked = await askOdoo(runner, data, question, PAGE_BYTES_MAX);
    if (!('result' in asked)) return { failure: asked, ...findCause(asked) };
    const tookSeconds = Math.ceil((nowMs() - startedMs) / 1000);
    const { upstreamDate = null, nullField = null } = asked.facts ?? {};
    if (nullField !== null) onNull(nullField);
    const answered = Math.floor(readHttpDate(upstreamDate ?? '') / 1000);
    const limit = asked.headers[LIMIT_HEADER];
    return {
      result: asked.result,
      clock: Number.isNaN(answered) ? null : { asked: answered - tookSeconds, answered },
      limit: limit === undefined ? null : Number(limit),
    };
  };
}

function findCause(failure: QuestionFailure): { cause?: 'too_large' | 'query_invalid' } {
  if ('denial' in failure) return failure.isTooLarge ? { cause: 'too_large' } : {};
  return readErrorType(failure.error) === 'query_invalid' ? { cause: 'query_invalid' } : {};
}

/** Reads the type from an error answer of the proxy, as a whole. */
function readErrorType(error: Uint8Array): unknown {
  const answer = JSON.parse(Buffer.from(error).toString()) as { error?: { data?: { type?: unknown } } };
  return answer.error?.data?.type;
}
