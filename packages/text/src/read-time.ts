/** Reads times that people write. Pure. */

const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Describes the texts that {@link readTime} accepts, for errors. */
export const TIME_FORM = 'a day or a time with its zone in ISO 8601, as 2026-03-31 or 2026-03-31T08:00:00Z';

/** Returns milliseconds since 1970; null if the text is neither a day nor a time with its zone. */
export function readTime(text: string): number | null {
  const [, day] = TIME.exec(text) ?? [];
  const time = Date.parse(text);
  // `isDay` is needed because Date.parse reads the 30th of February as a day of March.
  return day !== undefined && !Number.isNaN(time) && isDay(day) ? time : null;
}

function isDay(text: string): boolean {
  return new Date(text).toISOString().startsWith(text);
}
