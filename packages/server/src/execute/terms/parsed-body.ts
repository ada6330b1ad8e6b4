/** The body of a request as its calls, before and after each of them is parsed. */
import type { JsonMember, JsonSpan } from '../../json/span.ts';
import type { Denial } from './denial.ts';

/** One call or a batch, each call as a span of the bytes. */
export interface Body {
  bytes: Uint8Array;
  isBatch: boolean;
  calls: CallSpan[];
}

/** One call of the body. `members` is set if parsing the document has found them already. */
export interface CallSpan {
  span: JsonSpan;
  members: JsonMember[] | null;
}

/** A call as parsed. Its `id` is known even if the rest is refused. */
export interface Read<AnyCall> {
  /** Bytes of the `id` for the answer. */
  id: Uint8Array;
  call: AnyCall | Denial;
}

/** Bytes of the `id` in an answer if the caller's is not known. */
export const NULL_ID: Uint8Array = Buffer.from('null');
