/** A request to Odoo that is ready to be sent. */

import type { EgressRequest } from '@erp-proxy/egress';
import type { ResultShape } from '@erp-proxy/odoo/json2';
import type { Denial } from './denial.ts';
import type { Protocol } from './method-call.ts';
import type { Target } from './target.ts';

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
