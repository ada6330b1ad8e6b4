/**
 * The reply to one call. Steps return it, and the answer to the caller is made from it. The reply and how it was
 * answered tell whether the attempt has run the call.
 */
import type { AnswerHeaders, ByteStream } from '@erp-proxy/async/streams';
import { ALL_ERRORS, type BusinessErrorType } from '@erp-proxy/contract';
import type { Fault } from '@erp-proxy/odoo/faults';
import type { AttemptOutcome } from '@erp-proxy/traffic/idempotency';
import { Denial } from './denial.ts';

/**
 * A success. `pieces`, `rest` and `tail` together are the result's value and the closing brace of the envelope, or the
 * bytes of a file.
 */
export interface ResultReply {
  kind: 'result';
  pieces: Uint8Array[];
  /** The bytes that have not arrived yet; null if `pieces` are complete. Complete pieces have been checked. */
  rest: ByteStream | null;
  /** Length of `pieces` and `rest` in bytes; null if unknown. */
  lengthBytes: number | null;
  /** The byte that `pieces` and `rest` must end with; null if any is valid. */
  lastByte: number | null;
  /** Follows `rest`. */
  tail: Uint8Array;
  /** Headers of a file. The answer then consists of its bytes, without an envelope. */
  file?: AnswerHeaders;
}

/** An error that Odoo raised. */
export interface FaultReply {
  kind: 'fault';
  fault: Fault;
}

/** The stored answer to an earlier attempt with the same idempotency key. */
export interface KeptReply {
  kind: 'kept';
  status: number;
  body: Uint8Array;
}

/** The call was stored as a job, and not run. */
export interface DeferredReply {
  kind: 'deferred';
  headers: AnswerHeaders;
  body: Uint8Array;
}

export type Reply = ResultReply | FaultReply | KeptReply | DeferredReply | Denial;

/** Builds a result whose bytes are complete. */
export function replyWhole(value: Uint8Array, tail: Uint8Array): ResultReply {
  return { kind: 'result', pieces: [value], rest: null, lengthBytes: value.length, lastByte: null, tail };
}

/** Builds the reply for a file whose bytes are complete. */
export function replyFile(file: AnswerHeaders, bytes: Uint8Array): ResultReply {
  return { ...replyWhole(bytes, NOTHING), file };
}

const NOTHING = new Uint8Array(0);

export function isResult(reply: Reply): reply is ResultReply {
  return 'kind' in reply && reply.kind === 'result';
}

/** How a call was answered, for its record. */
export interface AnswerSummary {
  /**
   * `ok`, `replayed`, `deferred`, `data.type` of the error, or `broken_off` if the connection was closed during the
   * answer.
   */
  type: string;
  /** `error.code`; null for a result. */
  code: number | null;
  httpStatus: number;
  /** The rule of a policy that denied the call. */
  rule?: string;
  /** The cause, for the log. */
  detail?: string;
}

/** Odoo refused these before it ran anything. Once the cause is removed, the same call must run. */
const NEVER_RUN: ReadonlySet<BusinessErrorType> = new Set(['access_denied', 'database_missing']);

/**
 * Derives from its reply, and from how the answer was sent, whether an attempt has run the call, for what was claimed
 * before it was sent.
 */
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
  if (reply.kind !== 'fault') return reply.kind === 'deferred';
  const { retryable, type } = reply.fault.data;
  return retryable || NEVER_RUN.has(type as BusinessErrorType);
}
