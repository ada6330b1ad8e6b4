/**
 * Sends a call of `/json/2` as its caller wrote it, for callers that use this protocol themselves. If the server does
 * not support it, the call is refused, and no other protocol is used.
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
    const egressResult = await sendOnce(call, context, deps);
    if (!egressResult.ok) return { reply: denyFailure(egressResult, call, deadline), egressResult };
    const { settings } = deps;
    if (egressResult.status !== 200)
      return { reply: await receiveJson2Refusal(egressResult, call, deadline, settings), egressResult };
    const received = await receiveReply(egressResult, call, deadline, settings);
    if (received instanceof Denial || received.kind !== 'contradiction')
      return { reply: received, egressResult };
    return { reply: received.otherwise, egressResult };
  };
}
