/** Derives from its reply whether an attempt has run the call, for what was claimed before it was sent. */
import { ALL_ERRORS, type BusinessErrorType } from '@erp-proxy/contract';
import type { AttemptOutcome } from '../../idempotency/idempotent-call.ts';
import type { AnswerSummary } from '../terms/answer-summary.ts';
import { Denial } from '../terms/denial.ts';
import type { Reply } from '../terms/reply.ts';

/** Odoo refused these before it ran anything. Once the cause is removed, the same call must run. */
const NEVER_RUN: ReadonlySet<BusinessErrorType> = new Set(['access_denied', 'database_missing']);

/** Derives the outcome of the attempt from its reply and from how the answer was sent. */
export function checkAttempt(reply: Reply, summary: AnswerSummary): AttemptOutcome {
  if (hasNotRun(reply)) return 'not_run';
  if (reply instanceof Denial) return 'unknown';
  return reply.kind === 'fault' || summary.type === 'ok' ? 'answered' : 'ran_without_answer';
}

/** True if the call surely did not run, or was undone, and may run after the cause is removed. */
export function hasNotRun(reply: Reply): boolean {
  if (reply instanceof Denial) {
    const mayHaveRun =
      'hasOutcome' in ALL_ERRORS[reply.type] && (reply.more.outcome ?? 'unknown') === 'unknown';
    return !mayHaveRun;
  }
  if (reply.kind !== 'fault') return false;
  const { retryable, type } = reply.fault.data;
  return retryable || NEVER_RUN.has(type as BusinessErrorType);
}
