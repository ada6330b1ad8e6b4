/**
 * One call: its place in the request, the terms for it, and what its steps have found and taken. The comment of a field
 * that changes names the step that sets it. A further attempt, a shared read and a question of the proxy use a copy of
 * the record ({@link copyCall}), which has taken nothing yet.
 */
import type { AnswerHeaders, AnswerWriter } from '@erp-proxy/async/streams';
import type { DataRoute } from '@erp-proxy/contract';
import type { CallApproval } from '@erp-proxy/control/approvals';
import type { Connection } from '@erp-proxy/control/connections';
import type { Client } from '@erp-proxy/control/keys';
import type { CallRecord } from '@erp-proxy/observe/events';
import type { IdempotentCall } from '@erp-proxy/traffic/idempotency';
import type { Permit } from '@erp-proxy/traffic/limits/database';
import type { Deferral } from './deferral.ts';
import type { Denial } from './denial.ts';
import type { FollowUp } from './follow-up.ts';
import type { Protocol } from './method-call.ts';
import { type AnyParsed, type CallSpan, NULL_ID } from './parsed-body.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';
import type { RequestTime } from './request-time.ts';
import type { ServerAddress } from './target.ts';
import type { TracedCall } from './tracing.ts';
import { CHANGED } from './upstream-denials.ts';

/** What can differ between the calls of a request. */
export interface CallTerms {
  /** A valid idempotency key; null: the call has none. */
  readonly idempotencyKey: string | null;
  /** Approvals that the call may use; null: it cannot be approved alone. Texts that are not ids count as unknown. */
  readonly approvalIds: readonly string[] | null;
  /** The confirmation by a person that the call needs in addition to what the policy asks for; null: none. */
  readonly confirmation: NeededConfirmation | null;
  /** True if the caller prefers normalized values (docs/values.md). */
  readonly areValuesNormalized: boolean;
  /** What the policy must allow in `data`; null: nothing. */
  readonly data: DataRoute | null;
  /** How the call is stored to run later; null: its caller waits. */
  readonly deferral: Deferral | null;
  /** Why the call is not sent: the reply if the policy allows it. */
  readonly refusal?: Reply;
  /** Finds the reply to a call with a result, by further requests to its server. Absent: the result is the reply. */
  readonly followUp?: FollowUp;
}

/** A person must agree to a call. The policy is asked first, so that nobody is asked about a call that it denies. */
export interface NeededConfirmation {
  /** `removals`: only to a call whose values remove records of a list (one2many). */
  readonly of: 'all' | 'removals';
  /**
   * `person`: the person in front of the client. The call is not sent: the program of the agent asks this person, and
   * then makes the call again. `administrator`: by an approval.
   */
  readonly by: 'person' | 'administrator';
  /** Stands for the rule of a policy. */
  readonly rule: string;
}

/** The place of a call in its request, and of its answer. */
interface CallPlace {
  readonly request: Request;
  readonly index: number;
  /** The bytes of the body, and of the call in it. */
  readonly body: Uint8Array;
  readonly span: CallSpan;
  readonly trace: CallTrace;
  /** Headers of its answer. */
  readonly describe: (trace: CallTrace) => AnswerHeaders;
  /** Where its answer goes. Set by sendAnswer for a call with an idempotency key. */
  writer: AnswerWriter;
  /** As last read from the store. Set by renew. */
  client: Client;
}

/** The result of checkCredentials for a call that may go on. */
export interface CredentialCheck {
  /** True if the credentials have not been seen to work. */
  readonly isTrial: boolean;
  /** The denial if a lockout has begun meanwhile; null if the call may be sent. */
  findDenial(): Denial | null;
}

export interface CallContext extends CallPlace, CallTerms {
  readonly bytes: Uint8Array;
  /** Time limit of the request, or of the shared read. */
  readonly time: RequestTime;
  /** What the steps have taken. The end of the attempt gives it back, if nothing has done so before. */
  readonly held: DisposableStack;
  /** Set by parse: the bytes of `id` for the answer. */
  id: Uint8Array;
  /** Set by parse, for the record; null if the call has no valid shape. */
  parsed: AnyParsed | null;
  /** Set once the call is authorized: true while the call may be sent as it was built, for key, policy and instance. */
  isUnchanged: () => Promise<boolean>;
  /**
   * Set once the call is authorized, and by applyRelatedRules: the rule of the policy because of which it needs an
   * approval; null if it needs none.
   */
  approvalRule: string | null;
  /** Set by applyFieldRules for `default_get`: the fields that the answer may have; null: any. */
  namedDefaults: ReadonlySet<string> | null;
  /** Set by build. */
  isReadOnly: boolean;
  /** Set by replayAnswer; null without an idempotency key. */
  protection: IdempotentCall | null;
  /**
   * Milliseconds that the call may still wait for the store of its idempotency key. Set by replayAnswer, reduced by
   * replayAnswer and claimIdempotencyKey.
   */
  storeWaitMs: number;
  /** Set by requireApproval; null if the call needs no approval. */
  approval: CallApproval | null;
  /** Set by checkCredentials. */
  credentialCheck: CredentialCheck | null;
  /** Set by obtainPermit. */
  permit: Permit | null;
  /** Set by sendWithRetries: true once the server was sent the call, or a request for facts that precedes it. */
  isServerAsked: boolean;
}

export function startCall(place: CallPlace, terms: CallTerms): CallContext {
  const { body, span, request } = place;
  return {
    ...place,
    ...terms,
    bytes: body.subarray(span.span.start, span.span.end),
    time: request.time,
    id: NULL_ID,
    parsed: null,
    isUnchanged: () => Promise.reject(new Error('the call is not authorized yet')),
    approvalRule: null,
    ...takeNothing(),
  };
}

/** Starts the trace of a call, and its span if the request is traced. */
export function traceCall(
  { isBatch, startedMs, traced }: Request,
  nowMs: number,
  traceparent: string | null,
): CallTrace {
  const callStartedMs = isBatch ? nowMs : startedMs;
  return startTrace(callStartedMs, traceparent, traced?.startCall(callStartedMs, traceparent));
}

/** The same call for another attempt, or with the time limit and trace of a read that others may join. */
export function copyCall(
  context: CallContext,
  changes: Partial<Pick<CallContext, 'time' | 'trace' | 'approvalRule'>> = {},
): CallContext {
  return { ...context, ...changes, ...takeNothing() };
}

function takeNothing() {
  return {
    held: new DisposableStack(),
    namedDefaults: null,
    isReadOnly: false,
    protection: null,
    storeWaitMs: 0,
    approval: null,
    credentialCheck: null,
    permit: null,
    isServerAsked: false,
  };
}

/** A reply that follows from what was known before a wait, unless the call must start over. */
export async function unlessChanged(context: CallContext, reply: Reply): Promise<Reply> {
  return (await context.isUnchanged()) ? reply : CHANGED;
}

/** What is known about a running call, for its record. Each step sets what it has found. */
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
  /** The person as whose user the call runs; null if it is not that of a person, or not known yet. */
  connection: Pick<Connection, 'person' | 'login'> | null;
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
    connection: null,
    sharedFrom: null,
    ageMs: null,
    policyLimit: null,
    approval: null,
    areValuesNormalized: false,
    nullField: null,
  };
}
