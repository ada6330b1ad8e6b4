/** Sends a request through egress, once, and waits for the head of the answer. */
import type { EgressAnswer, EgressDispatcher, EgressFailure } from '../../egress/dispatcher.ts';
import type { CallContext } from '../terms/call-context.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';

export interface SendDeps {
  egress: EgressDispatcher;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** What sending needs of the context of a call. */
export interface SendContext extends Pick<CallContext, 'trace' | 'isUnchanged'> {
  time: Pick<CallContext['time'], 'deadline'>;
}

export async function sendOnce(
  call: UpstreamCall,
  { trace, isUnchanged, time }: SendContext,
  { egress, nowMs }: SendDeps,
): Promise<EgressAnswer | EgressFailure> {
  trace.protocol = call.protocol;
  trace.sentMs ??= nowMs();
  trace.attempts++;
  const met = await egress.send(call.request, { signal: time.deadline.signal, isStillWanted: isUnchanged });
  trace.answeredMs = nowMs();
  trace.upstreamStatus = met.ok ? met.status : null;
  return met;
}
