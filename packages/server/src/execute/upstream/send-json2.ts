/**
 * Sends a call of `/json/2` as its caller wrote it, for callers that speak it themselves. A server without it is refused,
 * and no other protocol takes its place.
 */
import { Denial } from '../terms/denial.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';
import { denyFailure } from '../terms/upstream-denials.ts';
import { type ReceiveSettings, receiveReply } from './receive.ts';
import { receiveJson2Refusal } from './receive-json2-refusal.ts';
import type { Send } from './retry.ts';
import { type SendDeps, sendOnce } from './send-once.ts';

export interface SendJson2Deps extends SendDeps {
  settings: ReceiveSettings;
}

export function sendJson2(deps: SendJson2Deps): Send<UpstreamCall> {
  return async (call, context) => {
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
