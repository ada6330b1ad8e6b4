/** The request that egress sends, and its outcome: an answer or a failure. */
import type { ByteStream } from '@erp-proxy/async/streams';

export interface EgressRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `URL.origin` */
  origin: string;
  /** Begins with `/`; may contain a query. */
  path: string;
  /** Names in lower case, without content-length and host. */
  headers: Record<string, string>;
  /**
   * The whole body (docs/odoo-facts.md#slow-body, docs/odoo-facts.md#chunked-body: Odoo blocks a worker on a slow body,
   * and json2 ignores chunked ones).
   */
  body: Uint8Array | null;
  /** Absent or null: the settings that apply to all servers. */
  trust?: EgressTrust | null;
}

/** Trust in one server beyond the settings that apply to all. */
export interface EgressTrust {
  /** Identifies the trust. Only requests with the same trust and origin share connections. */
  readonly id: string;
  /** PEM certificates that replace the public ones; null: the public ones. */
  readonly certificates: string | null;
  /** True: the origin of the request counts as listed in `egress.allow`. */
  readonly isAllowed: boolean;
}

export interface EgressAnswer {
  ok: true;
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>;
  /** Length of the body in bytes; null if the head does not state it. */
  bodyLength: number | null;
  body: ByteStream;
}

export interface EgressFailure {
  ok: false;
  reason: EgressFailureReason;
  /** False only if the server has certainly not received the whole request. */
  sent: boolean;
  /** For the operator's log only. */
  detail: string;
}

export type EgressFailureReason =
  | 'denied'
  | 'unresolved'
  | 'refused'
  /**
   * This machine lacks file descriptors, local ports or memory for a connection. It says nothing about the server.
   */
  | 'exhausted'
  | 'connect_timeout'
  | 'tls'
  | 'reset'
  | 'first_byte_timeout'
  | 'aborted'
  /** The sender no longer wanted the request once the connection was made. */
  | 'withdrawn'
  | 'bad_response';

/** Why an origin or address may not be reached. */
export interface EgressDenial {
  rule: 'origin' | 'scheme' | 'port' | 'address';
  /** For the operator's log only. */
  detail: string;
}
