/** What is known about a running call, for its record. Each step sets what it has found. */

import type { Permit } from '../../limits/database/permit.ts';
import type { CallRecord } from '../../observe/events.ts';
import type { Protocol } from './method-call.ts';
import type { ServerAddress } from './target.ts';
import type { TracedCall } from './tracing.ts';

export interface CallTrace {
  startedMs: number;
  /** A valid `traceparent` of the caller, which is passed on; null if there is none. */
  readonly traceparent: string | null;
  /** The spans of the call; null if traces are off. */
  readonly traced: TracedCall | null;
  /** How long the call waited for a permit of the database; null if it did not wait. */
  queuedMs: number | null;
  /** When the request was sent to Odoo, and when the head of its answer arrived; null if it was not or did not. */
  sentMs: number | null;
  answeredMs: number | null;
  /** Mean answer time of interactive calls to the database; null if there were none lately. */
  interactiveMs: Permit['interactiveMs'];
  attempts: number;
  upstreamStatus: number | null;
  /** Header `date` of the last answer from Odoo; null if there is none. */
  upstreamDate: string | null;
  target: (ServerAddress & { db?: string }) | null;
  protocol: Protocol | null;
  /** The source of the answer to a read that was not sent itself; null if the call was sent. */
  sharedFrom: CallRecord['sharedFrom'];
  /** Age of a kept answer in milliseconds; null for other answers. */
  ageMs: number | null;
  /** The limit that the policy set in place of the caller's; null if it set none. */
  policyLimit: number | null;
  /** Id of the approval that the call asked for or used; null if it needed none. */
  approval: string | null;
  /** True once values of the call or of its result are converted, as the caller prefers. */
  areValuesNormalized: boolean;
  /** The first field whose NaN or Infinity became null; empty: an element of a list did. Null: none has become null. */
  nullField: string | null;
}

/** Creates the trace of a call. `startedMs` is a time of the monotonic clock. */
export function startTrace(
  startedMs: number,
  traceparent: string | null,
  traced: TracedCall | null = null,
): CallTrace {
  return {
    startedMs,
    traceparent,
    traced,
    queuedMs: null,
    sentMs: null,
    answeredMs: null,
    interactiveMs: null,
    attempts: 0,
    upstreamStatus: null,
    upstreamDate: null,
    target: null,
    protocol: null,
    sharedFrom: null,
    ageMs: null,
    policyLimit: null,
    approval: null,
    areValuesNormalized: false,
    nullField: null,
  };
}
