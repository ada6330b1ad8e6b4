/** Reads the header `retry-after` of an upstream answer (RFC 9110 section 10.2.3). */
import type { EgressAnswer } from '../../egress/dispatcher.ts';

export interface RetryAfter {
  /** The wait in milliseconds that the server asks for. A date counts as infinite: the server's clock is unknown. */
  waitMs: number;
  /** The header as received if it is well-formed, so that a caller may get it; null otherwise. */
  wellFormed: string | null;
}

const NONE: RetryAfter = { waitMs: 0, wellFormed: null };
const SECONDS = /^\d{1,9}$/;
const DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
/** A date in another form still asks for a wait. */
const DATE_START = /^[A-Z][a-z]{2}, /;

export function readRetryAfter(header: EgressAnswer['headers'][string]): RetryAfter {
  if (typeof header !== 'string') return NONE;
  if (SECONDS.test(header)) return { waitMs: Number(header) * 1000, wellFormed: header };
  if (!DATE_START.test(header)) return NONE;
  return { waitMs: Number.POSITIVE_INFINITY, wellFormed: DATE.test(header) ? header : null };
}
