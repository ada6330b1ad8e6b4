/** What is known of a call as it goes along: each step writes down what it has found. */
import type { CallRecord } from '../../observe/events.ts';
import type { Protocol } from './method-call.ts';
import type { ServerAddress } from './target.ts';

export interface CallTrace {
  startedMs: number;
  /** When the request went to Odoo and when the head of its answer came; null if it did not. */
  sentMs: number | null;
  answeredMs: number | null;
  attempts: number;
  upstreamStatus: number | null;
  target: (ServerAddress & { db?: string }) | null;
  protocol: Protocol | null;
  /** Whose answer a read was given, where it was not made a call of its own. */
  sharedFrom: CallRecord['sharedFrom'];
  /** Of an answer that was kept. */
  ageMs: number | null;
  /** The limit that the policy put in place of the caller's. */
  policyLimit: number | null;
}

/** The trace of a call that has begun; `startedMs` by the monotonic clock. */
export function startTrace(startedMs: number): CallTrace {
  return {
    startedMs,
    sentMs: null,
    answeredMs: null,
    attempts: 0,
    upstreamStatus: null,
    target: null,
    protocol: null,
    sharedFrom: null,
    ageMs: null,
    policyLimit: null,
  };
}
