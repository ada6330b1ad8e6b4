/**
 * Receives an unsuccessful answer of `/json/2` for callers that use this protocol themselves. The status becomes the
 * code of the error, also if a reverse proxy in front of Odoo sent it.
 */
import type { EgressAnswer } from '../../egress/dispatcher.ts';
import { classifyOwnJson2Fault } from '../../odoo/faults/json2-own-fault.ts';
import { classifyJson2Answer } from '../../odoo/json2/json2-answer.ts';
import { ByteStreamError } from '../../streams/byte-stream.ts';
import type { Deadline } from '../terms/deadline.ts';
import { Denial } from '../terms/denial.ts';
import type { Reply } from '../terms/reply.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';
import { denyEnded, describeOutcome } from '../terms/upstream-denials.ts';
import { PeekedBody } from './peeked-body.ts';
import type { ReceiveSettings } from './receive.ts';
import { denyStatus } from './upstream-status.ts';

export async function receiveJson2Refusal(
  answer: EgressAnswer,
  call: UpstreamCall,
  deadline: Deadline,
  settings: ReceiveSettings,
): Promise<Reply> {
  const body = await readWhole(answer, call, deadline, settings.answerBytesMax);
  if (body instanceof Denial) return body;
  const { status, headers } = answer;
  const options = { debug: settings.isDebug, secrets: [call.target.apiKey] };
  const verdict = classifyJson2Answer({ status, headers, body }, options);
  // If a reverse proxy blocks the route with another status, the caller gets that status.
  const isMissing = verdict.kind === 'route_missing' && !verdict.isBlocked;
  if (isMissing || verdict.kind === 'database_hidden') return JSON2_MISSING;
  if (verdict.kind === 'fault' || verdict.kind === 'signature_differs')
    return { kind: 'fault', fault: classifyOwnJson2Fault(body, { ...verdict.fault, code: status }, options) };
  const { type, message, more } = denyStatus(answer, call);
  return new Denial(type, message, status < 400 ? more : { ...more, passedStatus: status });
}

const JSON2_MISSING = new Denial(
  'json2_missing',
  'The server has no /json/2 (Odoo 18 and older), or shows no such database there. The call was not run.',
);

/** Pages of other programs are truncated, because their status says enough. */
async function readWhole(
  answer: EgressAnswer,
  { isReadOnly }: UpstreamCall,
  deadline: Deadline,
  bytesMax: number,
): Promise<Uint8Array | Denial> {
  const peeked = new PeekedBody(answer.body);
  try {
    if (!(await peeked.readWhole(bytesMax))) peeked.cancel();
    return peeked.bytes;
  } catch (error) {
    answer.body.cancel();
    if (!(error instanceof ByteStreamError)) throw error;
    const details = { outcome: 'unknown', isReadOnly, detail: error.message } as const;
    if (deadline.reason !== null) return denyEnded(deadline, details);
    return new Denial(
      'upstream_unreachable',
      `The server broke its answer off. ${describeOutcome(details)}`,
      details,
    );
  }
}
