/**
 * The state of one attempt to run a call: what its steps know besides the call itself, and what they must release at
 * the end. Each field that changes names the step that sets it.
 */
import type { CallApproval } from '../../approvals/call-approval.ts';
import type { IdempotentCall } from '../../idempotency/idempotent-call.ts';
import type { Client } from '../../keys/keys.ts';
import type { Permit } from '../../limits/database/permit.ts';
import type { CallTrace } from './call-trace.ts';
import type { Denial } from './denial.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';
import type { RequestTime } from './request-time.ts';
import { CHANGED } from './upstream-denials.ts';

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
  isUnchanged: () => Promise<boolean>;
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
  /** Set by obtainPermit: gives the permit back, once. The end of the call calls it too. */
  release: () => void = () => {};

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

  /** A reply that follows from what was known before a wait, unless the call must start over. */
  async unlessChanged(reply: Reply): Promise<Reply> {
    return (await this.isUnchanged()) ? reply : CHANGED;
  }

  /** Returns the context of the same call with its own time limit, for a read that other requests may join. */
  share(time: RequestTime): CallContext {
    const { request, client, trace, index, bytes, approvalRule, isUnchanged } = this;
    return new CallContext({ request, client, time, trace, index, bytes, approvalRule, isUnchanged });
  }
}
