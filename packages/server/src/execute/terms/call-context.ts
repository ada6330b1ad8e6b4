/**
 * The state of one attempt to run a call: what its steps know besides the call itself, and what they must release at
 * the end. Each field that changes names the step that sets it.
 */
import type { CallApproval } from '../../approvals/call-approval.ts';
import type { IdempotentCall } from '../../idempotency/idempotent-call.ts';
import type { Client } from '../../keys/keys.ts';
import type { Permit } from '../../limits/database/permit.ts';
import { type Awaitable, andThen } from '../../streams/and-then.ts';
import { WatchedStream } from '../../streams/watched-stream.ts';
import type { CallTrace } from './call-trace.ts';
import type { Denial } from './denial.ts';
import { isResult, type Reply } from './reply.ts';
import type { Request } from './request.ts';
import type { RequestTime } from './request-time.ts';

/** Gets the reply of the later steps, or null after an exception. Returns it, or another reply that replaces it. */
export type ReplyListener = (reply: Reply | null) => Awaitable<Reply | null>;

export interface CallContextInit {
  request: Request;
  /** The client, as last read from the store. */
  client: Client;
  /** Time limit of the request, or of the shared read. */
  time: RequestTime;
  trace: CallTrace;
  /** Index in the batch, and the bytes of the call in the body. */
  index: number;
  bytes: Uint8Array;
  /** The rule of the policy because of which the call needs an approval; null if it needs none. */
  approvalRule: string | null;
  /** True while the call may be sent as it was built: key, policy and instance have not changed. */
  isUnchanged: () => Awaitable<boolean>;
}

/** The result of checkCredentials for a call that may go on. */
export interface CredentialCheck {
  /** True if the credentials have not been seen to work. */
  readonly isTrial: boolean;
  /** The denial if a lockout has begun meanwhile; null if the call may be sent. */
  findDenial(): Denial | null;
}

export class CallContext implements CallContextInit {
  readonly request: Request;
  readonly client: Client;
  readonly time: RequestTime;
  readonly trace: CallTrace;
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly approvalRule: string | null;
  readonly isUnchanged: CallContextInit['isUnchanged'];
  /** Set by applyFieldRules for `default_get`: the fields that the answer may have; null: any. */
  namedDefaults: ReadonlySet<string> | null = null;
  /** Set by replayAnswer; null without an idempotency key. */
  protection: IdempotentCall | null = null;
  /**
   * Milliseconds that the call may still wait for the store of its idempotency key. Set by replayAnswer, reduced by
   * replayAnswer and claimIdempotencyKey.
   */
  storeWaitMs = 0;
  /** Set by requireApproval; null if the call needs no approval. */
  approval: CallApproval | null = null;
  /** Set by checkCredentials. */
  credentialCheck: CredentialCheck | null = null;
  /** Set by obtainPermit. */
  permit: Permit | null = null;
  /** Set by claimIdempotencyKey for a write: ends the permission to continue without the caller. */
  endOutliving: () => void = () => {};
  /** Set by sendWithRetries: true once the server was sent the call, or a request for facts that precedes it. */
  isServerAsked = false;
  readonly #onReply: ReplyListener[] = [];
  #onReleased: (() => void)[] = [];

  constructor(init: CallContextInit) {
    this.request = init.request;
    this.client = init.client;
    this.time = init.time;
    this.trace = init.trace;
    this.index = init.index;
    this.bytes = init.bytes;
    this.approvalRule = init.approvalRule;
    this.isUnchanged = init.isUnchanged;
  }

  /** Returns the context of the same call with its own time limit, for a read that other requests may join. */
  share(time: RequestTime): CallContext {
    const { request, client, trace, index, bytes, approvalRule, isUnchanged } = this;
    return new CallContext({ request, client, time, trace, index, bytes, approvalRule, isUnchanged });
  }

  /** Listeners run in reverse order, as soon as the beginning of the reply is known. */
  onReply(listener: ReplyListener): void {
    this.#onReply.push(listener);
  }

  /** `listener` is called once: when the whole answer has arrived from Odoo, or none will. */
  onReleased(listener: () => void): void {
    this.#onReleased.push(listener);
  }

  /**
   * Runs all listeners of the reply. What was taken for the call is released with the last byte of its result. After a
   * listener has thrown, the others get null, and the exception follows when all have run. Synchronous if all are.
   */
  reply(reply: Reply | null): Awaitable<Reply | null> {
    const errors: unknown[] = [];
    let last: Awaitable<Reply | null> = reply;
    for (let listener = this.#onReply.pop(); listener !== undefined; listener = this.#onReply.pop()) {
      const next = listener;
      last = andThen(last, (seen) => tellListener(next, seen, errors));
    }
    return andThen(last, (seen) => {
      const watched = this.#releaseAfter(seen);
      if (errors.length > 0) throw errors[0];
      return watched;
    });
  }

  #releaseAfter(reply: Reply | null): Reply | null {
    if (reply !== null && isResult(reply) && reply.rest !== null)
      return { ...reply, rest: new WatchedStream(reply.rest, () => this.release()) };
    this.release();
    return reply;
  }

  /** Releases what was taken for the call. Later calls have no effect. */
  release(): void {
    const listeners = this.#onReleased;
    this.#onReleased = [];
    for (const listener of listeners) listener();
  }
}

function tellListener(
  listener: ReplyListener,
  reply: Reply | null,
  errors: unknown[],
): Awaitable<Reply | null> {
  const fail = (error: unknown) => {
    errors.push(error);
    return null;
  };
  try {
    const seen = listener(reply);
    return seen instanceof Promise ? seen.catch(fail) : seen;
  } catch (error) {
    return fail(error);
  }
}
