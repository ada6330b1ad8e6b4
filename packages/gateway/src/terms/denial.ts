/**
 * A refusal as a value: a step returns it in place of its output, and the pipeline makes the answer from it. It has the
 * public text. `detail` goes only to the operator's log, never to a caller.
 */
import { ALL_ERRORS, type CompatibleErrorType, type Outcome, type ProxyErrorType } from '@erp-proxy/contract';
import type { RefusedKey } from '@erp-proxy/observe/events';

/** Further parts of a denial. */
export interface DenialMore {
  /** Path of the wrong member, e.g. `keyword.limit`. */
  path?: string;
  /** With `policy_denied`: the rule of the policy that decided. */
  rule?: string;
  /** With `approval_required`: the id of the request for approval. */
  approval?: string;
  /** With `connect_required`: the page to connect on; null if it is not known. */
  connectUrl?: string | null;
  /** For types whose row has `hasOutcome`: whether the call ran. */
  outcome?: Outcome;
  /** True if the method only reads, so that it can be sent again safely. */
  isReadOnly?: boolean;
  /** Seconds for the `retry-after` header. */
  retryAfterSeconds?: number;
  /** HTTP headers that the answer must carry, e.g. `allow`. */
  headers?: Readonly<Record<string, string>>;
  /** HTTP status of the upstream answer. It becomes the code of an error that is sent with HTTP 200. */
  passedStatus?: number;
  /** The cause, for the log. */
  detail?: string;
  /** The client key that was not accepted, for the audit. */
  refusedKey?: RefusedKey;
}

export class Denial {
  readonly type: ProxyErrorType | CompatibleErrorType;
  readonly message: string;
  readonly more: DenialMore;

  constructor(type: ProxyErrorType | CompatibleErrorType, message: string, more: DenialMore = {}) {
    this.type = type;
    this.message = message;
    this.more = more;
  }

  /** True if the same call may be sent again unchanged (docs/errors.md#sending-a-call-again). */
  get retryable(): boolean {
    const { retry } = ALL_ERRORS[this.type];
    if (retry === 'if_safe')
      return this.more.isReadOnly === true || (this.more.outcome ?? 'unknown') !== 'unknown';
    return retry === 'always';
  }
}

/** The denial for an exception in the proxy itself. */
export const INTERNAL = new Denial(
  'internal',
  'The proxy failed; tell its operator the x-request-id of this answer. Odoo may have run the call.',
);
