/** Denials for HTTP statuses that are not Odoo's own answers, equal for all protocols. */
import type { Outcome } from '@erp-proxy/contract';
import type { EgressAnswer } from '@erp-proxy/egress';
import {
  classifyStatus,
  type Firewall,
  findFirewall,
  findRedirect,
  isRefusedBeforeRun,
} from '@erp-proxy/odoo/servers';
import { Denial } from '../terms/denial.ts';
import { describeOutcome, type OutcomeDetails } from '../terms/upstream-denials.ts';

/** The denial if the body is too large for the server. */
export function denyTooLarge(detail: string): Denial {
  return new Denial('payload_too_large', 'The server refuses a body of this size; send less in one call.', {
    detail,
  });
}

/** The denial if the server, or the reverse proxy in front of it, is overloaded. */
export function denyOverloaded(details: OutcomeDetails, headers: EgressAnswer['headers']): Denial {
  const { waitMs, seconds } = readRetryAfter(headers);
  const retryAfterSeconds = seconds ?? (waitMs === 0 ? RETRY_AFTER_SECONDS : UNKNOWN_SECONDS);
  const message = `The server is overloaded; wait ${retryAfterSeconds} s. ${describeOutcome(details)}`;
  return new Denial('overloaded', message, { ...details, retryAfterSeconds });
}

/** A firewall in front of Odoo has answered. Nothing at the address is wrong. */
export class FirewallRefusal extends Denial {
  constructor(
    { product, isChallenge }: Firewall,
    answer: Pick<EgressAnswer, 'status' | 'headers'>,
    { isReadOnly, outcome }: { isReadOnly: boolean; outcome: Outcome },
  ) {
    // A page with status 200 may stand in front of an answer that Odoo has given.
    const details: OutcomeDetails = {
      outcome: answer.status === 200 ? outcome : 'not_sent',
      isReadOnly,
      detail: `HTTP ${answer.status}`,
    };
    const who = product === null ? 'A firewall or reverse proxy' : `A firewall (${product})`;
    const did = isChallenge ? 'asks for a check that only a browser passes' : 'refuses the request';
    super(
      'upstream_bad_response',
      `${who} in front of Odoo ${did} (${details.detail}). Let the address of this proxy pass there. ${describeOutcome(details, true)}`,
      details,
    );
  }
}

/** Used if the server does not say when it will accept calls again. */
const RETRY_AFTER_SECONDS = 1;
/** Used if the server names a date, but has no header `date`, from which its clock would be known. */
const UNKNOWN_SECONDS = 60;

/**
 * The denial for a status that is not Odoo's own answer to the call. `outcome` is used for statuses after which the
 * server may have run the call.
 */
export function denyStatus(
  answer: Pick<EgressAnswer, 'status' | 'headers'>,
  { isReadOnly }: { isReadOnly: boolean },
  outcome: Outcome = 'unknown',
): Denial {
  const firewall = findFirewall(answer);
  if (firewall !== null) return new FirewallRefusal(firewall, answer, { isReadOnly, outcome });
  const { status, headers } = answer;
  const detail = `HTTP ${status}`;
  const refused: OutcomeDetails = { outcome: 'not_sent', isReadOnly, detail };
  const unknown: OutcomeDetails = { outcome, isReadOnly, detail };
  switch (classifyStatus(answer)) {
    case 'too_large':
      return denyTooLarge(detail);
    case 'overloaded':
      return denyOverloaded(refused, headers);
    case 'unavailable':
      return denyOverloaded(unknown, headers);
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
    `The server answered HTTP ${status} and not as Odoo does. ${adviseAddress(answer)} ${describeOutcome(details, true)}`,
    details,
  );
}

/** What to do about an address behind which there is no Odoo. */
function adviseAddress(answer: Pick<EgressAnswer, 'status' | 'headers'>): string {
  // Odoo has its own page for an exception outside of a call.
  if (answer.status === 500) return 'The log of the server has the cause.';
  return adviseRedirect(findRedirect(answer)) ?? 'Check that `erp_instance.url` is its base address.';
}

/** Null if the server redirects nowhere. */
export function adviseRedirect(target: string | null): string | null {
  if (target === null) return null;
  return `It redirects to ${target}, which the proxy does not follow: if that is your server, make it \`erp_instance.url\`.`;
}

export interface RetryAfter {
  /** The wait in milliseconds that the server asks for; infinite if it cannot be told. */
  waitMs: number;
  /** The same in whole seconds, for the caller; null if the server asks for none that can be told. */
  seconds: number | null;
}

const NONE: RetryAfter = { waitMs: 0, seconds: null };
const UNKNOWN: RetryAfter = { waitMs: Number.POSITIVE_INFINITY, seconds: null };
const SECONDS = /^\d{1,9}$/;
const DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
/** A date in another form still asks for a wait. */
const DATE_START = /^[A-Z][a-z]{2}, /;

/**
 * Reads the header `retry-after` of an upstream answer (RFC 9110 section 10.2.3): seconds, or a date. The header
 * `date` of the same answer is the server's clock.
 */
export function readRetryAfter(headers: EgressAnswer['headers']): RetryAfter {
  const header = headers['retry-after'];
  if (typeof header !== 'string') return NONE;
  if (SECONDS.test(header)) return { waitMs: Number(header) * 1000, seconds: Number(header) };
  if (!DATE_START.test(header)) return NONE;
  const waitMs = readDate(header) - readDate(headers['date']);
  if (!Number.isFinite(waitMs)) return UNKNOWN;
  const seconds = Math.max(0, Math.ceil(waitMs / 1000));
  return { waitMs: seconds * 1000, seconds };
}

/** Milliseconds since 1970; NaN if it is no date. */
function readDate(header: EgressAnswer['headers'][string]): number {
  return typeof header === 'string' && DATE.test(header) ? Date.parse(header) : Number.NaN;
}
