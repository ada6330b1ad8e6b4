/** Reads dates of HTTP headers. Pure. */

const HTTP_DATE = /^[A-Za-z]{3,9},? /;
const ZONE = /([A-Z]{1,4}|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970; NaN if it is no date. Without a zone, as in the form of asctime, it is UTC (RFC 9110). */
export function readHttpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  return Date.parse(ZONE.test(text) ? text : `${text} GMT`);
}
