/** A method with its arguments, as it will run in Odoo. It does not depend on the protocol. */
import type { Target } from './target.ts';

/** The form of `keyword.ids`: records, null (the method takes none), or absent. */
export type NamedRecords = 'given' | 'none' | 'unsaid';

export interface MethodCall {
  model: string;
  method: string;
  /** A JSON array: the positional arguments. */
  params: Uint8Array;
  /** A JSON object: the named arguments. */
  keyword: Uint8Array;
  /** If `given`, the ids are the first of `params`. */
  records: NamedRecords;
  /** True if the method only reads, so that running it twice does no harm. */
  isReadOnly: boolean;
}

/** A method call and the server that it runs on. */
export interface TargetedCall extends MethodCall {
  target: Target;
}

export type Protocol = 'jsonrpc' | 'json2';
