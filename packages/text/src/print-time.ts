/** Prints times as ISO 8601 in UTC, for log lines and audit records. */

let lastMs = 0;
let lastText = new Date(lastMs).toISOString();

/** `ms`: milliseconds since 1970. Throws a RangeError if it is not a valid time. */
export function printTime(ms: number): string {
  // The last text is kept: under load several calls end in one millisecond, and printing a date takes half as long as
  // the rest of a record.
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}
