/** Denials for HTTP statuses that are not Odoo's own answers, equal for all protocols. */
import type { Outcome } from '@erp-proxy/contract';
import type { EgressAnswer } from '../../egress/dispatcher.ts';
import { classifyStatus, isRefusedBeforeRun } from '../../odoo/http-status.ts';
import { Denial } from '../terms/denial.ts';
import { describeOutcome, type OutcomeDetails } from '../terms/upstream-denials.ts';
import { readRetryAfter } from './retry-after.ts';

/** The denial if the body is too large for the server. */
export function denyTooLarge(detail: string): Denial {
  return new Denial('payload_too_large', 'The server refuses a body of this size; send less in one call.', {
    detail,
  });
}

/** The denial if the server, or the reverse proxy in front of it, is overloaded. */
export function denyOverloaded(details: OutcomeDetails, retryAfter: EgressAnswer['headers'][string]): Denial {
  const { waitMs, wellFormed } = readRetryAfter(retryAfter);
  const until =
    wellFormed === null || Number.isFinite(waitMs)
      ? `${wellFormed === null ? RETRY_AFTER_SECONDS : waitMs / 1000} s`
      : `until ${wellFormed}`;
  return new Denial('overloaded', `The server is overloaded; wait ${until}. ${describeOutcome(details)}`, {
    ...details,
    ...(wellFormed === null
      ? { retryAfterSeconds: RETRY_AFTER_SECONDS }
      : { headers: { 'retry-after': wellFormed } }),
  });
}

/** Used if the server does not say when it will accept calls again. */
const RETRY_AFTER_SECONDS = 1;

/**
 * The denial for a status that is not Odoo's own answer to the call. `outcome` is used for statuses after which the
 * server may have run the call.
 */
export function denyStatus(
  answer: Pick<EgressAnswer, 'status' | 'headers'>,
  { isReadOnly }: { isReadOnly: boolean },
  outcome: Outcome = 'unknown',
): Denial {
  const { status, headers } = answer;
  const detail = `HTTP ${status}`;
  const refused: OutcomeDetails = { outcome: 'not_sent', isReadOnly, detail };
  const unknown: OutcomeDetails = { outcome, isReadOnly, detail };
  switch (classifyStatus(answer)) {
    case 'too_large':
      return denyTooLarge(detail);
    case 'overloaded':
      return denyOverloaded(refused, headers['retry-after']);
    case 'unavailable':
      return denyOverloaded(unknown, headers['retry-after']);
    case 'bad_gateway':
      return new Denial(
        'upstream_unreachable',
        `The reverse proxy in front of Odoo does not reach it (${detail}). ${describeOutcome(unknown)}`,
        unknown,
      );
    case 'gateway_timeout':
      return new Denial(
        'upstream_timeout',
        `The reverse proxy in front of Odoo gave up waiting for it (${detail}). ${describeOutcome(unknown)}`,
        unknown,
      );
  }
  const details = isRefusedBeforeRun(answer) ? refused : unknown;
  return new Denial(
    'upstream_bad_response',
    `The server answered HTTP ${status} and not as Odoo does. Check that \`erp_instance.url\` is its base address. ${describeOutcome(details, true)}`,
    details,
  );
}
