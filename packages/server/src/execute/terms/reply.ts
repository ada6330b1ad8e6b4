/** The reply to one call. Steps return it, and the answer to the caller is made from it. */

import type { ByteStream } from '@erp-proxy/async/streams';
import type { Fault } from '@erp-proxy/odoo/faults';
import type { Denial } from './denial.ts';

/** A success. `pieces`, `rest` and `tail` together are the result's value and the closing brace of the envelope. */
export interface ResultReply {
  kind: 'result';
  pieces: Uint8Array[];
  /** The bytes that have not arrived yet; null if `pieces` are complete. Complete pieces have been checked. */
  rest: ByteStream | null;
  /** Length of `pieces` and `rest` in bytes; null if unknown. */
  lengthBytes: number | null;
  /** The byte that `pieces` and `rest` must end with; null if any is valid. */
  lastByte: number | null;
  /** Follows `rest`. */
  tail: Uint8Array;
}

/** An error that Odoo raised. */
export interface FaultReply {
  kind: 'fault';
  fault: Fault;
}

/** The stored answer to an earlier attempt with the same idempotency key. */
export interface KeptReply {
  kind: 'kept';
  status: number;
  body: Uint8Array;
}

export type Reply = ResultReply | FaultReply | KeptReply | Denial;

/** Builds a result whose bytes are complete. */
export function replyWhole(value: Uint8Array, tail: Uint8Array): ResultReply {
  return { kind: 'result', pieces: [value], rest: null, lengthBytes: value.length, lastByte: null, tail };
}

export function isResult(reply: Reply): reply is ResultReply {
  return 'kind' in reply && reply.kind === 'result';
}
