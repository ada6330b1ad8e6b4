/**
 * Step: sends the request and waits for the head of the answer. A read is tried once more where that can do no harm; a
 * write never after its first byte may have left.
 */
import type { EgressAnswer, EgressDispatcher, EgressFailure } from '../egress/dispatcher.ts';
import type { Deadline } from './deadline.ts';
import { Denial } from './denial.ts';
import type { UpstreamCall } from './translate.ts';
import { adviseFate, denyEgress, denyEnded, type UpstreamFate } from './upstream-denials.ts';

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

function denyFailure(failure: EgressFailure, call: UpstreamCall, deadline: Deadline): Denial {
  const fate: UpstreamFate = {
    outcome: failure.sent ? 'unknown' : 'not_sent',
    isReadOnly: call.isReadOnly,
    detail: failure.detail,
  };
  switch (failure.reason) {
    case 'denied':
      return denyEgress(failure.detail);
    case 'aborted':
      return denyEnded(deadline, fate);
    case 'connect_timeout':
    case 'first_byte_timeout':
      return new Denial('upstream_timeout', `${TIMEOUT_TEXTS[failure.reason]} ${adviseFate(fate)}`, fate);
    case 'bad_response':
      return new Denial(
        'upstream_bad_response',
        `The server's answer is not HTTP that can be read. Check \`erp_instance.url\`. ${adviseFate(fate)}`,
        fate,
      );
    default:
      return new Denial(
        'upstream_unreachable',
        `${UNREACHABLE_TEXTS[failure.reason]} ${adviseFate(fate)}`,
        fate,
      );
  }
}

const TIMEOUT_TEXTS = {
  connect_timeout: 'The connection to the server was not made in time.',
  first_byte_timeout: 'Odoo did not begin to answer in time.',
} as const;

const UNREACHABLE_TEXTS = {
  unresolved: 'The host in `erp_instance.url` has no address; check its spelling.',
  refused: 'The server refuses connections; check host and port in `erp_instance.url`, and that Odoo runs.',
  tls: "The server's TLS handshake or certificate failed; check the scheme and host in `erp_instance.url`.",
  reset: 'The server closed the connection without an answer.',
} as const;
