/** Reads dates of HTTP headers. Pure. */

const HTTP_DATE = /^[A-Za-z]{3,9},? /;
const ZONE = /([A-Z]{1,4}|[+-]\d\d:?\d\d)$/;

/**
 * Returns milliseconds since 1970; NaN if the text is not a date. Without a zone, as in the form of asctime, the date
 * is in UTC (RFC 9110).
 */
export function readHttpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  return Date.parse(ZONE.test(text) ? text : `${text} GMT`);
}
