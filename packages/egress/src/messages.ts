/** The request that egress sends, and its outcome: an answer or a failure. */
import type { WireAnswer, WireFailure, WireRequest } from '@erp-proxy/wire/client';

export interface EgressRequest extends WireRequest {
  /** `URL.origin` */
  origin: string;
  /** Absent or null: the settings that apply to all servers. */
  trust?: EgressTrust | null;
}

export type EgressAnswer = WireAnswer;
export type EgressFailure = WireFailure;

/** Trust in one server beyond the settings that apply to all. */
export interface EgressTrust {
  /** Identifies the trust. Only requests with the same trust and origin share connections. */
  readonly id: string;
  /** PEM certificates that replace the public ones; null: the public ones. */
  readonly certificates: string | null;
  /** True: the origin of the request counts as listed in `egress.allow`. */
  readonly isAllowed: boolean;
}

/** Why an origin or address may not be reached. */
export interface EgressDenial {
  rule: 'origin' | 'scheme' | 'port' | 'address';
  /** For the operator's log only. */
  detail: string;
}
