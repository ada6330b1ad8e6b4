/** What an HTTP status of an upstream means where it is not Odoo's own answer: the same whatever protocol was spoken. */
import type { Outcome } from '@erp-proxy/contract';
import type { EgressAnswer } from '../../egress/dispatcher.ts';
import { isLoginRedirect } from '../../odoo/login-redirect.ts';
import { Denial } from '../terms/denial.ts';
import { adviseFate, type UpstreamFate } from '../terms/upstream-denials.ts';

/** A body that is too large for the server. */
export function denyTooLarge(detail: string): Denial {
  return new Denial('payload_too_large', 'The server refuses a body of this size; send less in one call.', {
    detail,
  });
}

/** A server, or the proxy in front of it, that has no room. */
export function denyOverloaded(fate: UpstreamFate, retryAfter: EgressAnswer['headers'][string]): Denial {
  const isGiven = typeof retryAfter === 'string' && RETRY_AFTER.test(retryAfter);
  return new Denial('overloaded', `The server is overloaded. ${adviseFate(fate)}`, {
    ...fate,
    ...(isGiven ? { headers: { 'retry-after': retryAfter } } : { retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
}

/** Seconds, or a date (RFC 9110 section 10.2.3). */
const RETRY_AFTER = /^(\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;
/** Where the server does not say when it will take calls again. */
const RETRY_AFTER_SECONDS = 1;

/**
 * What a status means that is not Odoo's own answer to the call. `outcome` is what is known of the call where the server
 * may have run it.
 */
export function denyStatus(
  { status, headers }: Pick<EgressAnswer, 'status' | 'headers'>,
  { isReadOnly }: { isReadOnly: boolean },
  outcome: Outcome = 'unknown',
): Denial {
  const detail = `HTTP ${status}`;
  const refused: UpstreamFate = { outcome: 'not_sent', isReadOnly, detail };
  const unknown: UpstreamFate = { outcome, isReadOnly, detail };
  switch (status) {
    case 413:
      return denyTooLarge(detail);
    case 429:
      return denyOverloaded(refused, headers['retry-after']);
    case 503:
      // Some proxies (Envoy) say so too of a connection that broke after the request was sent.
      return denyOverloaded(unknown, headers['retry-after']);
    case 502:
      return new Denial(
        'upstream_unreachable',
        `The reverse proxy in front of Odoo does not reach it (HTTP 502). ${adviseFate(unknown)}`,
        unknown,
      );
    case 504:
      return new Denial(
        'upstream_timeout',
        `The reverse proxy in front of Odoo gave up waiting for it (HTTP 504). ${adviseFate(unknown)}`,
        unknown,
      );
  }
  const fate = isTurnedAway(status, String(headers['location'] ?? '')) ? refused : unknown;
  return new Denial(
    'upstream_bad_response',
    `The server answered HTTP ${status} and not as Odoo does. Check that \`erp_instance.url\` is its base address. ${adviseFate(fate)}`,
    fate,
  );
}

/**
 * Whether a status says that the request was turned away before any method ran. A 4xx does, and a permanent redirect: the
 * address is another one, whoever asks (RFC 9110 sections 15.4.2 and 15.4.9). Any other redirect can be what a front end
 * makes of its own 502 after the call was sent (nginx: `error_page 502 =302`).
 */
function isTurnedAway(status: number, location: string): boolean {
  return (
    (status >= 400 && status < 500) || status === 301 || status === 308 || isLoginRedirect(status, location)
  );
}

/**
 * Whether `/jsonrpc` is not there for us: gone, or kept from us by what stands in front. Odoo itself answers it by none of
 * these (docs/odoo-facts.md#jsonrpc-status), but for the redirects and pages that it has for strangers.
 */
export function isRouteMissing(status: number): boolean {
  return [403, 404, 405, 410].includes(status) || (status >= 300 && status < 400);
}
