/**
 * Sends a call of `/json/2` as its caller wrote it, for callers that speak it themselves. A server without it is refused,
 * and no other protocol takes its place.
 */
import { buildJson2Request } from '../../odoo/json2/json2-request.ts';
import { isReadOnlyMethod } from '../../odoo/methods.ts';
import type { Json2Call } from '../call/parse-json2.ts';
import { Denial } from '../terms/denial.ts';
import type { Target } from '../terms/target.ts';
import { CHANGED, denyFailure } from '../terms/upstream-denials.ts';
import { type ReceiveSettings, receiveReply } from './receive.ts';
import { receiveJson2Refusal } from './receive-json2-refusal.ts';
import type { Send } from './retry.ts';
import { type SendDeps, sendOnce } from './send-once.ts';
import type { UpstreamCall } from './translate.ts';

export interface SendJson2Deps extends SendDeps {
  settings: ReceiveSettings;
}

const EMPTY_KWARGS = Buffer.from('{}');

export function buildJson2Call(
  { bytes, model, method, kwargs }: Json2Call,
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

export function sendJson2(deps: SendJson2Deps): Send<UpstreamCall> {
  return async (call, context) => {
    // The call may have waited for a retry.
    if (!(await context.isUnchanged())) return { reply: CHANGED, met: null };
    const { deadline } = context.time;
    const met = await sendOnce(call, context, deps);
    if (!met.ok) return { reply: denyFailure(met, call, deadline), met };
    const { settings } = deps;
    if (met.status !== 200) return { reply: await receiveJson2Refusal(met, call, deadline, settings), met };
    const received = await receiveReply(met, call, deadline, settings);
    if (received instanceof Denial || received.kind !== 'contradiction') return { reply: received, met };
    return { reply: received.otherwise, met };
  };
}
