/** Denials that several steps give about the upstream, with the one text for each. */
import type { Outcome } from '@erp-proxy/contract';
import type { Deadline } from './deadline.ts';
import { Denial } from './denial.ts';

/** What every denial about an upstream must say. */
export interface UpstreamFate {
  outcome: Outcome;
  isReadOnly: boolean;
  /** For the log. */
  detail?: string;
}

/** One text for every refused address, so that it tells nothing of what is there. */
export function denyEgress(detail: string): Denial {
  return new Denial(
    'egress_denied',
    'The operator does not allow this address. Only public addresses over https are allowed, and what the setting egress.allow names.',
    { path: 'erp_instance.url', detail },
  );
}

/** A call that was ended from our side: out of time, or by a shutdown. */
export function denyEnded(deadline: Deadline, fate: UpstreamFate): Denial {
  if (deadline.reason === 'shutdown') {
    return new Denial('overloaded', `The proxy is shutting down. ${adviseFate(fate)}`, {
      ...fate,
      retryAfterSeconds: 1,
    });
  }
  return new Denial(
    'upstream_timeout',
    `Odoo did not answer in time; ask for less, or allow more with x-request-timeout. ${adviseFate(fate)}`,
    fate,
  );
}

/** What a caller must know before sending the call again. */
export function adviseFate({ outcome, isReadOnly }: UpstreamFate): string {
  if (outcome === 'not_sent') return 'The call was not run.';
  if (outcome === 'rolled_back') return 'Odoo rolled the call back.';
  if (isReadOnly) return 'The call only reads and may be sent again.';
  return 'Odoo may have run the call: look there before sending it again.';
}
