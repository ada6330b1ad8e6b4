/** The body of a request as a list of calls, before and after each of them is parsed. */
import type { JsonMember, JsonSpan } from '@erp-proxy/json';
import type { Denial } from './denial.ts';
import type { NamedInstance, ServerAddress } from './target.ts';

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

/** What the step `authorize` adds to a call. */
export interface PolicyTerms {
  /** The limit that the policy set in place of the caller's; absent if it set none. */
  policyLimit?: number;
  /** The rule of the policy because of which the call needs an approval; absent if it needs none. */
  approvalRule?: string;
  /** The policy also depends on types of fields that the call names. */
  lacksTypes?: true;
}

/** The members that the record of every kind of call needs. */
export interface AnyParsed extends PolicyTerms {
  model?: string;
  method?: string;
  instance?: NamedInstance;
  /** The server's address, if the call names no instance. */
  address?: ServerAddress;
}

/** Bytes of `id` in an answer if the caller's `id` is not known. */
export const NULL_ID: Uint8Array = Buffer.from('null');
