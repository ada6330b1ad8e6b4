/** Step: sends the request, once, and waits for the head of the answer. */
import type { EgressAnswer, EgressDispatcher, EgressFailure } from '../../egress/dispatcher.ts';
import type { CallScope } from '../run-request.ts';
import type { Deadline } from '../terms/deadline.ts';
import type { UpstreamCall } from './translate.ts';

export async function callUpstream(
  call: UpstreamCall,
  { trace, isUnchanged }: Pick<CallScope, 'trace' | 'isUnchanged'>,
  deadline: Deadline,
  { egress, nowMs }: { egress: EgressDispatcher; nowMs: () => number },
): Promise<EgressAnswer | EgressFailure> {
  trace.protocol = call.protocol;
  trace.sentMs ??= nowMs();
  trace.attempts++;
  const met = await egress.send(call.request, { signal: deadline.signal, isStillWanted: isUnchanged });
  trace.answeredMs = nowMs();
  trace.upstreamStatus = met.ok ? met.status : null;
  return met;
}
