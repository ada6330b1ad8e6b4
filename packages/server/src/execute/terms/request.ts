/**
 * What is known about a request after its body has arrived. Calls only read it; `time` is the only part that changes.
 */
import type { CallSource, DataRoute } from '@erp-proxy/contract';
import type { Dialect } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';
import type { RequestTime } from './request-time.ts';
import type { TracedRequest } from './tracing.ts';

/** An administrator who makes a call. */
export interface CallActor {
  /** As in the audit. */
  readonly name: string;
  readonly address: string | null;
}

/** A person must agree to a call. The policy is asked first, so that nobody is asked about a call that it denies. */
export interface NeededConfirmation {
  /** `removals`: only to a call whose values remove records of a list (one2many). */
  readonly of: 'all' | 'removals';
  /**
   * `person`: the one in front of the client, whom the agent's program asks: the call is not sent. `administrator`: by
   * an approval.
   */
  readonly by: 'person' | 'administrator';
  /** Stands for the rule of a policy. */
  readonly rule: string;
}

export interface Request {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly time: RequestTime;
  /** Start of the request, by the monotonic clock. */
  readonly startedMs: number;
  readonly isBatch: boolean;
  /** Text of the header `idempotency-key`; null if there is none. */
  readonly idempotencyKey: string | null;
  /** True if the idempotency key is that of one call, wherever it stands among the calls of the request. */
  readonly hasKeyForOneCall: boolean;
  /** Ids in the header `x-approval`; null: the calls of the request cannot be approved one by one. */
  readonly approvalIds: readonly string[] | null;
  /** What a person must say before a call is sent; null: nothing beside what the policy asks for. */
  readonly confirmation: NeededConfirmation | null;
  /** A valid `traceparent`; null if there is none. */
  readonly traceparent: string | null;
  /** Its trace; null if traces are off. */
  readonly traced: TracedRequest | null;
  /** True if the caller prefers normalized values (docs/values.md). */
  readonly areValuesNormalized: boolean;
  /** What makes the calls; null: they are in the body of the request. */
  readonly via: CallSource | null;
  /** The administrator who makes the call; null: its client does. */
  readonly actor: CallActor | null;
  /** What the policy must allow in `data`; null: nothing. */
  readonly data: DataRoute | null;
  /** True if interactive calls go first (limits/database/). */
  readonly isBackground: boolean;
  /** The reply of a call that is not sent, if the policy allows it. */
  readonly refusal?: Reply;
}
