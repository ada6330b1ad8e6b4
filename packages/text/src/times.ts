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

let lastMs = 0;
let lastText = new Date(lastMs).toISOString();

/**
 * Prints times as ISO 8601 in UTC, for log lines and audit records. `ms`: milliseconds since 1970. Throws a RangeError
 * if it is not a valid time.
 */
export function printTime(ms: number): string {
  // The last text is kept: under load several calls end in one millisecond, and printing a date takes half as long as
  // the rest of a record.
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Describes the texts that {@link readTime} accepts, for errors. */
export const TIME_FORM = 'a day or a time with its zone in ISO 8601, as 2026-03-31 or 2026-03-31T08:00:00Z';

/**
 * Reads a time that a person has written. Returns milliseconds since 1970; null if the text is neither a day nor a time
 * with its zone.
 */
export function readTime(text: string): number | null {
  const [, day] = TIME.exec(text) ?? [];
  const time = Date.parse(text);
  // `isDay` is needed because Date.parse reads the 30th of February as a day of March.
  return day !== undefined && !Number.isNaN(time) && isDay(day) ? time : null;
}

function isDay(text: string): boolean {
  return new Date(text).toISOString().startsWith(text);
}
