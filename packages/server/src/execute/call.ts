/** Step: sends the request, once, and waits for the head of the answer. */
import type { EgressAnswer, EgressDispatcher, EgressFailure } from '../egress/dispatcher.ts';
import type { Deadline } from './deadline.ts';
import type { CallTrace } from './record.ts';
import type { UpstreamCall } from './translate.ts';

export async function callUpstream(
  call: UpstreamCall,
  trace: CallTrace,
  deadline: Deadline,
  { egress, nowMs }: { egress: EgressDispatcher; nowMs: () => number },
): Promise<EgressAnswer | EgressFailure> {
  trace.protocol = call.protocol;
  trace.sentMs ??= nowMs();
  trace.attempts++;
  const met = await egress.send(call.request, { signal: deadline.signal });
  trace.answeredMs = nowMs();
  trace.upstreamStatus = met.ok ? met.status : null;
  return met;
}
