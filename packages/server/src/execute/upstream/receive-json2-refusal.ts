/**
 * Receives an unsuccessful answer of `/json/2` for callers that use this protocol themselves. The status becomes the
 * code of the error, also if a reverse proxy in front of Odoo sent it.
 */
import type { EgressAnswer } from '@erp-proxy/egress';
import type { Deadline } from '../terms/deadline.ts';
import { Denial } from '../terms/denial.ts';
import type { Reply } from '../terms/reply.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';
import * as largeCalls from '../thread/large-calls.ts';
import { PeekedBody } from './peeked-body.ts';
import { denyBrokenAnswer, type ReceiveSettings } from './receive.ts';
import { denyStatus } from './upstream-status.ts';

export async function receiveJson2Refusal(
  answer: EgressAnswer,
  call: UpstreamCall,
  deadline: Deadline,
  settings: ReceiveSettings,
): Promise<Reply> {
  try {
    return await readRefusal(answer, call, deadline.signal, settings);
  } catch (error) {
    return denyBrokenAnswer(error, answer, call, deadline);
  }
}

async function readRefusal(
  answer: EgressAnswer,
  call: UpstreamCall,
  signal: AbortSignal,
  settings: ReceiveSettings,
): Promise<Reply> {
  const { status, headers } = answer;
  const body = await readWhole(answer, settings.answerBytesMax);
  const options = { debug: settings.isDebug, secrets: [call.target.apiKey] };
  const verdict = await largeCalls.classifyJson2Answer({ status, headers, body }, options, signal);
  // If a reverse proxy blocks the route with another status, the caller gets that status.
  const isMissing = verdict.kind === 'route_missing' && !verdict.isBlocked;
  if (isMissing || verdict.kind === 'database_hidden') return JSON2_MISSING;
  if (verdict.kind === 'fault' || verdict.kind === 'signature_differs') {
    const translated = { ...verdict.fault, code: status };
    return {
      kind: 'fault',
      fault: await largeCalls.classifyOwnJson2Fault(body, translated, options, signal),
    };
  }
  const { type, message, more } = denyStatus(answer, call);
  return new Denial(type, message, status < 400 ? more : { ...more, passedStatus: status });
}

const JSON2_MISSING = new Denial(
  'json2_missing',
  'The server has no /json/2 (Odoo 18 and older), or shows no such database there. The call was not run.',
);

/** Pages of other programs are truncated, because their status says enough. */
async function readWhole(answer: EgressAnswer, bytesMax: number): Promise<Uint8Array> {
  const peeked = new PeekedBody(answer.body);
  if (!(await peeked.readWhole(bytesMax))) peeked.cancel();
  return await peeked.share();
}
