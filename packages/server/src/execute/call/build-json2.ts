/** Step: builds the request of a call of `/json/2`, with the arguments as the caller wrote them. */

import { isReadOnlyMethod } from '@erp-proxy/odoo';
import { buildJson2Request } from '@erp-proxy/odoo/json2';
import { Denial } from '../terms/denial.ts';
import type { Target } from '../terms/target.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';
import type { Json2Call } from './parse-json2.ts';

const EMPTY_KWARGS = Buffer.from('{}');
const NO_PARAMS = Buffer.from('[]');

/** The arguments of a call that {@link buildJson2Call} has built. */
export function readJson2Arguments({ request }: UpstreamCall): { params: Uint8Array; keyword: Uint8Array } {
  return { params: NO_PARAMS, keyword: request.body ?? EMPTY_KWARGS };
}

export function buildJson2Call(
  { bytes, model, method, kwargs }: Pick<Json2Call, 'bytes' | 'model' | 'method' | 'kwargs'>,
  target: Target,
): UpstreamCall | Denial {
  const head = buildJson2Request({ ...target, model, method });
  if ('unmappable' in head)
    return new Denial('json2_call_invalid', `The call cannot be sent: ${head.unmappable}.`);
  const body = kwargs.span === null ? EMPTY_KWARGS : bytes.subarray(kwargs.span.start, kwargs.span.end);
  return {
    request: { method: 'POST', origin: target.origin, trust: target.trust, ...head, body },
    protocol: 'json2',
    resultShape: 'same',
    target,
    model,
    method,
    isReadOnly: isReadOnlyMethod(method, model),
  };
}
