/** Denials for HTTP statuses that are not Odoo's own answers, equal for all protocols. */
import type { Outcome } from '@erp-proxy/contract';
import type { EgressAnswer } from '../../egress/dispatcher.ts';
import { isLoginRedirect } from '../../odoo/login-redirect.ts';
import { Denial } from '../terms/denial.ts';
import { describeOutcome, type OutcomeDetails } from '../terms/upstream-denials.ts';

/** The denial if the body is too large for the server. */
export function denyTooLarge(detail: string): Denial {
  return new Denial('payload_too_large', 'The server refuses a body of this size; send less in one call.', {
    detail,
  });
}

/** The denial if the server, or the reverse proxy in front of it, is overloaded. */
export function denyOverloaded(details: OutcomeDetails, retryAfter: EgressAnswer['headers'][string]): Denial {
  const isGiven = typeof retryAfter === 'string' && RETRY_AFTER.test(retryAfter);
  return new Denial('overloaded', `The server is overloaded. ${describeOutcome(details)}`, {
    ...details,
    ...(isGiven ? { headers: { 'retry-after': retryAfter } } : { retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
}

/** Seconds, or a date (RFC 9110 section 10.2.3). */
const RETRY_AFTER = /^(\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;
/** Used if the server does not say when it will accept calls again. */
const RETRY_AFTER_SECONDS = 1;

/**
 * The denial for a status that is not Odoo's own answer to the call. `outcome` is used for statuses after which the
 * server may have run the call.
 */
export function denyStatus(
  { status, headers }: Pick<EgressAnswer, 'status' | 'headers'>,
  { isReadOnly }: { isReadOnly: boolean },
  outcome: Outcome = 'unknown',
): Denial {
  const detail = `HTTP ${status}`;
  const refused: OutcomeDetails = { outcome: 'not_sent', isReadOnly, detail };
  const unknown: OutcomeDetails = { outcome, isReadOnly, detail };
  switch (status) {
    case 413:
      return denyTooLarge(detail);
    case 429:
      return denyOverloaded(refused, headers['retry-after']);
    case 503:
      // Some proxies (Envoy) also answer 503 if a connection broke after the request was sent.
      return denyOverloaded(unknown, headers['retry-after']);
    case 502:
      return new Denial(
        'upstream_unreachable',
        `The reverse proxy in front of Odoo does not reach it (HTTP 502). ${describeOutcome(unknown)}`,
        unknown,
      );
    case 504:
      return new Denial(
        'upstream_timeout',
        `The reverse proxy in front of Odoo gave up waiting for it (HTTP 504). ${describeOutcome(unknown)}`,
        unknown,
      );
  }
  const details = isRefusedUnrun(status, String(headers['location'] ?? '')) ? refused : unknown;
  return new Denial(
    'upstream_bad_response',
    `The server answered HTTP ${status} and not as Odoo does. Check that \`erp_instance.url\` is its base address. ${describeOutcome(details)}`,
    details,
  );
}

/**
 * True if the status says that the request was refused before any method ran. That holds for a 4xx, and for a permanent
 * redirect, which means that the address is another one (RFC 9110 sections 15.4.2 and 15.4.9). A reverse proxy may send
 * any other redirect instead of its own 502 after the call was sent (nginx: `error_page 502 =302`).
 */
function isRefusedUnrun(status: number, location: string): boolean {
  return (
    (status >= 400 && status < 500) || status === 301 || status === 308 || isLoginRedirect(status, location)
  );
}

/**
 * True if `/jsonrpc` cannot be used: it does not exist, or a reverse proxy blocks it. Odoo itself answers `/jsonrpc`
 * with none of these statuses (docs/odoo-facts.md#jsonrpc-status), except for its 404 page and its redirect to the
 * login page.
 */
export function isRouteMissing(status: number): boolean {
  return [403, 404, 405, 410].includes(status) || (status >= 300 && status < 400);
}
