/** What goes into the egress path and what comes out of it: one request, one answer or failure. */
import type { ByteStream } from '../streams/byte-stream.ts';

export interface EgressRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `URL.origin` */
  origin: string;
  /** Begins with `/`, may carry a query. */
  path: string;
  /** Lower-case names; without content-length and host. */
  headers: Record<string, string>;
  /**
   * The whole body (docs/odoo-facts.md#slow-body, docs/odoo-facts.md#chunked-body: Odoo blocks a worker on a slow body,
   * and json2 ignores chunked ones).
   */
  body: Uint8Array | null;
  /** Left out or null: what holds for all. */
  trust?: EgressTrust | null;
}

/** How one server is trusted beyond what holds for all. */
export interface EgressTrust {
  /** Names it: connections are shared only by requests of the same trust to the same origin. */
  readonly id: string;
  /** PEM, in place of the public ones; null: the public ones. */
  readonly certificates: string | null;
  /** The origin of the request counts as named in `egress.allow`. */
  readonly isAllowed: boolean;
}

export interface EgressAnswer {
  ok: true;
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>;
  /** How many bytes the body will give, where the head tells. */
  bodyLength: number | null;
  body: ByteStream;
}

export interface EgressFailure {
  ok: false;
  reason: EgressFailureReason;
  /** False only if it is certain that no byte of the request left. */
  sent: boolean;
  /** For the operator's log only. */
  detail: string;
}

export type EgressFailureReason =
  | 'denied'
  | 'unresolved'
  | 'refused'
  | 'connect_timeout'
  | 'tls'
  | 'reset'
  | 'first_byte_timeout'
  | 'aborted'
  /** The sender did not want it any more when the connection was made. */
  | 'withdrawn'
  | 'bad_response';

/** Why an origin or address may not be reached. */
export interface EgressDenial {
  rule: 'origin' | 'scheme' | 'port' | 'address';
  /** For the operator's log only. */
  detail: string;
}
