/** The request that is sent, and its outcome: an answer or a failure. */
import type { ByteStream } from '@erp-proxy/async/streams';

export interface WireRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Begins with `/`; may contain a query. */
  path: string;
  /** Names in lower case, without content-length and host. */
  headers: Record<string, string>;
  /**
   * The whole body (docs/odoo-facts.md#slow-body, docs/odoo-facts.md#chunked-body: Odoo blocks a worker on a slow body,
   * and json2 ignores chunked ones).
   */
  body: Uint8Array | null;
}

/** One request on a connection. */
export interface SendOptions {
  signal: AbortSignal;
  /** Names what is sent, such as the id of a request, for stacks and debuggers. */
  owner?: string | undefined;
  /** Called after a connection had to be made, before a byte of the request is sent. Must not reject. */
  isStillWanted?: (() => boolean | Promise<boolean>) | undefined;
  /** Called right before the first byte of the request is written, on every connection. False: nothing is sent. */
  maySend?: (() => boolean) | undefined;
}

export interface WireAnswer {
  ok: true;
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>;
  /** Length of the body in bytes; null if the head does not state it. */
  bodyLength: number | null;
  body: ByteStream;
}

export interface WireFailure {
  ok: false;
  reason: FailureReason;
  /** False only if the server has certainly not received the whole request. */
  sent: boolean;
  /** For the operator's log only. */
  detail: string;
}

export type FailureReason =
  /** By the guard of the destination. */
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
