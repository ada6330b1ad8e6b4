/**
 * Step: sends the request and waits for the head of the answer. A read is tried once more where that can do no harm; a
 * write never after its first byte may have left.
 */
import type { EgressAnswer, EgressDispatcher, EgressFailure } from '../egress/dispatcher.ts';
import type { Deadline } from './deadline.ts';
import type { Denial } from './denial.ts';
import type { UpstreamCall } from './translate.ts';
import { denyFailure } from './upstream-denials.ts';

/** An answer whose head is in, or why there is none, and how often the request was tried for it. */
export interface CallAnswer {
  answer: EgressAnswer | Denial;
  attempts: number;
}

export async function callUpstream(
  call: UpstreamCall,
  deadline: Deadline,
  egress: EgressDispatcher,
): Promise<CallAnswer> {
  const first = await egress.send(call.request, { signal: deadline.signal });
  if (first.ok) return { answer: first, attempts: 1 };
  if (!call.isReadOnly || !mayHelp(first)) {
    return { answer: denyFailure(first, call, deadline), attempts: 1 };
  }
  const second = await egress.send(call.request, { signal: deadline.signal });
  return { answer: second.ok ? second : denyFailure(second, call, deadline), attempts: 2 };
}

/** The connection was never made, or died before any answer. */
function mayHelp(failure: EgressFailure): boolean {
  return failure.reason === 'refused' || failure.reason === 'reset';
}
