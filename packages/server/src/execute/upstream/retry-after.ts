/** Reads the header `retry-after` of an upstream answer (RFC 9110 section 10.2.3): seconds, or a date. */
import type { EgressAnswer } from '@erp-proxy/egress';

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

/** The header `date` of the same answer is the server's clock. */
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
