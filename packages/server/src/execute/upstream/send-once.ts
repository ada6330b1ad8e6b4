/** Sends a request once, through the egress guard, and waits for the head of the answer. */
import type { EgressAnswer, EgressDispatcher, EgressFailure, EgressRequest } from '@erp-proxy/egress';
import type { CallContext } from '../terms/call-context.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';

export interface SendDeps {
  egress: EgressDispatcher;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** The part of the call context that sending needs. */
export interface SendContext extends Pick<CallContext, 'trace' | 'isUnchanged'> {
  time: Pick<CallContext['time'], 'deadline'>;
  /** Absent: no caller waits for what is sent. */
  request?: { readonly exchange: { readonly requestId: string } };
}

export async function sendOnce(
  call: UpstreamCall,
  { trace, isUnchanged, time, request }: SendContext,
  { egress, nowMs }: SendDeps,
): Promise<EgressAnswer | EgressFailure> {
  trace.protocol = call.protocol;
  trace.sentMs ??= nowMs();
  trace.attempts++;
  const attempt = trace.traced?.startAttempt(call.request, call.protocol);
  const egressResult = await egress.send(
    passTraceOn(call.request, attempt?.traceparent ?? trace.traceparent),
    { signal: time.deadline.signal, owner: request?.exchange.requestId, isStillWanted: isUnchanged },
  );
  trace.answeredMs = nowMs();
  attempt?.end(egressResult);
  trace.upstreamStatus = egressResult.ok ? egressResult.status : null;
  trace.upstreamDate = (egressResult.ok && egressResult.headers['date']?.toString()) || null;
  return egressResult;
}

/** The caller's header is passed on unchanged if traces are off. */
function passTraceOn(request: EgressRequest, traceparent: string | null): EgressRequest {
  return traceparent === null ? request : { ...request, headers: { ...request.headers, traceparent } };
}
