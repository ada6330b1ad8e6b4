/** The body of a request as a list of calls, before and after each of them is parsed. */
import type { JsonMember, JsonSpan } from '@erp-proxy/json';
import type { Denial } from './denial.ts';

/** One call or a batch, each call as a span of the bytes. */
export interface Body {
  bytes: Uint8Array;
  isBatch: boolean;
  calls: CallSpan[];
}

/** One call of the body. `members` is set if parsing the document has already found them. */
export interface CallSpan {
  span: JsonSpan;
  members: JsonMember[] | null;
}

/** The result of parsing a call. Its `id` is known even if the rest is refused. */
export interface ParsedCall<AnyCall> {
  /** Bytes of `id` for the answer. */
  id: Uint8Array;
  call: AnyCall | Denial;
}

/** Bytes of `id` in an answer if the caller's `id` is not known. */
export const NULL_ID: Uint8Array = Buffer.from('null');
