/** Times of the admin API: ISO 8601, printed in UTC, read in any zone. */

const TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** Returns milliseconds since 1970. */
export function readTime(text: string): number | { error: string } {
  const day = TIME.exec(text)?.[1];
  const time = Date.parse(text);
  // Needed because Date.parse reads the 31st of February as a day of March.
  const isTime = day !== undefined && !Number.isNaN(time) && showTime(Date.parse(day)).startsWith(day);
  if (!isTime) return { error: 'must be a time with its zone in ISO 8601, e.g. 2027-03-31T08:00:00Z' };
  // In UTC, the year may have five digits. The printed time would then not be accepted as input.
  return TIME.test(showTime(time)) ? time : { error: 'must be a time in the years 0 to 9999, in UTC' };
}

export function showTime(time: number): string {
  return new Date(time).toISOString();
}

export function showTimeOrNull(time: number | null): string | null {
  return time === null ? null : showTime(time);
}
