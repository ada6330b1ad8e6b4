/**
 * One request: who asks for it, and what its steps have found and taken (run-request.ts). A field that changes names
 * the step that sets it. Calls only read it; `time` is the only part that they change.
 */
import type { AnswerHeaders } from '@erp-proxy/async/streams';
import type { ActorView, CallSource, DataRoute } from '@erp-proxy/contract';
import type { Client } from '@erp-proxy/control/keys';
import type { WriteMark } from './deferral.ts';
import type { Denial } from './denial.ts';
import type { Dialect } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import type { RequestTime } from './request-time.ts';
import type { TracedRequest } from './tracing.ts';

/** Who asks, and so where the calls are. */
export type Source =
  /** A client, found by its key. The calls are the body. */
  | { by: 'client' }
  /**
   * An administrator. The body is one call, or the calls are made to answer it. Policy and limits of `client` hold for
   * them. The exchange must hide where the administrator is: that is not the place of the client.
   */
  | { by: 'administrator'; client: Client; actor: CallActor }
  | ({ by: 'administrator'; client: Client; actor: CallActor } & MadeCalls)
  /** A client, found by its key: an agent, or a caller of a route for data. The calls are made to answer it. */
  | ({ by: 'session' } & MadeCalls)
  /** The proxy, for a client. The request has no caller, so that a refusal is returned and not answered. */
  | ({ by: 'background'; client: Client; writeMark?: WriteMark } & MadeCalls);

/** How calls are made that are not in the body of their request (call-runner.ts). */
export interface MadeCalls {
  via: CallSource;
  /** Whether values are normalized (docs/values.md); `preferred`: if the header `prefer` asks for it. */
  values: 'normalized' | 'preferred' | 'unconverted';
  /** What the policy of the key must allow in `data`; absent: nothing. Checked before the body is read. */
  data?: DataRoute;
  /** The body; `bytes`: a file of any media type. Default: JSON. */
  body?: 'json' | 'bytes' | 'none';
  /** The route of the job that the request becomes if its caller does not wait; absent: its caller waits. */
  job?: string;
  /** Which limits of the key hold for the request itself. Default: all. */
  limits?: 'all' | 'concurrency' | 'none';
  /** The time limit of a call, in place of that of the caller. */
  timeoutMs?: number;
  /** True if the request makes one call, for which `idempotency-key` holds. */
  isSingleCall?: true;
  /** True if its call can have an approval, which `x-approval` names. Others are denied if they need one. */
  takesApprovals?: true;
  /** True if interactive calls go first (limits/database/). Default: false. */
  isBackground?: boolean;
  /**
   * True if its calls run beside each other, each with the time limit of its instance. Unless the caller sets a time
   * limit for the request, the request then has the maximum.
   */
  hasParts?: true;
}

/** An administrator who makes a call. */
export interface CallActor extends ActorView {
  readonly address: string | null;
  /** Patterns of the names of the instances that calls may use. Null: all, and own credentials. */
  readonly instances: readonly string[] | null;
}

/** What a request has acquired from the limits of its key. */
export interface KeyAdmission {
  /** Counts `count` further calls of a batch, all or none. */
  admitCalls(count: number): Promise<Denial | null>;
  /** Counts one further call of a request that makes its calls one after the other. */
  admitNext(): Promise<Denial | null>;
  /** Acquires concurrency for up to `wanted` calls at once. Returns the number that may run at once. */
  acquireConcurrency(wanted: number): Promise<number>;
  /** The `ratelimit` headers. */
  describe(): AnswerHeaders;
}

export interface Request {
  readonly source: Source;
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly time: RequestTime;
  /** Start of the request, by the monotonic clock. */
  readonly startedMs: number;
  /** How its calls are made; null: they are in its body. */
  readonly made: MadeCalls | null;
  /** What makes the calls, for their records; null: they are in the body, and its client makes them. */
  readonly via: CallSource | null;
  /** The administrator who makes the call; null: its client does. */
  readonly actor: CallActor | null;
  /** What the steps have taken. It is given back once the last byte of the answer has left. */
  readonly held: DisposableStack;
  /** Set by authenticate; null: its key is not accepted yet. */
  client: Client | null;
  /** Set by throttle; null if the key has no limits. */
  keyAdmission: KeyAdmission | null;
  /** Set by readHeaders: the text of `idempotency-key`; null if there is none. */
  idempotencyKey: string | null;
  /** Set by readHeaders: the ids in `x-approval`. */
  approvalIds: readonly string[];
  /** Set by readBody. */
  bytes: Uint8Array;
  /** Set once its calls are known: true if there may be several. */
  isBatch: boolean;
  /** Set by startTraced: a valid `traceparent`, and the trace. Null if there is none, or traces are off. */
  traceparent: string | null;
  traced: TracedRequest | null;
}
