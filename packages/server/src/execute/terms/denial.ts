/**
 * A refusal as a value: a step returns it in place of its output, and the pipeline turns it into an answer. It carries
 * the public text; `detail` is for the operator's log only and never reaches a caller.
 */
import { ALL_ERRORS, type CompatibleErrorType, type Outcome, type ProxyErrorType } from '@erp-proxy/contract';
import type { RefusedKey } from '../../observe/events.ts';

/** What a denial can say beyond its type and message. */
export interface DenialMore {
  /** The member at fault, e.g. `keyword.limit`. */
  path?: string;
  /** With `policy_denied`: the rule of the policy that decided. */
  rule?: string;
  /** For the types whose row has `hasOutcome`: whether a write may have happened. */
  outcome?: Outcome;
  /** True where the action only reads, so that sending it again can do no harm. */
  isReadOnly?: boolean;
  /** Seconds for the `retry-after` header. */
  retryAfterSeconds?: number;
  /** HTTP headers that the answer must carry, e.g. `allow`. */
  headers?: Readonly<Record<string, string>>;
  /** Status of an answer that is passed on as an error with this code, in HTTP 200. */
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

  /** Whether the same call may be sent again as it is (docs/errors.md#sending-a-call-again). */
  get retryable(): boolean {
    const { retry } = ALL_ERRORS[this.type];
    if (retry === 'if_safe')
      return this.more.isReadOnly === true || (this.more.outcome ?? 'unknown') !== 'unknown';
    return retry === 'always';
  }
}

/** The answer to an exception of ours. */
export const INTERNAL = new Denial(
  'internal',
  'The proxy failed; tell its operator the x-request-id of this answer. Odoo may have run the call.',
);
