/** A call as it will run in Odoo: a method with its arguments, whatever the protocol, and the request for it. */

import type { EgressRequest } from '@erp-proxy/egress';
import type { ResultShape } from '@erp-proxy/odoo/json2';
import type { Denial } from './denial.ts';
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

/** A request to Odoo that is ready to be sent. */
export interface UpstreamCall {
  request: EgressRequest;
  protocol: Protocol;
  /** The form into which the value of the answer must be converted. */
  resultShape: ResultShape;
  target: Target;
  model: string;
  method: string;
  isReadOnly: boolean;
  /** Set if the positional argument was sent as ids: the reply if the server says that the method takes no ids. */
  ifNoIds?: Denial;
}
