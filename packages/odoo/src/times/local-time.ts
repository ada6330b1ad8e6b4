/** Prints times in a time zone. Independent of calls. */
import { getOffsetFinder } from './zone-offset.ts';

const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const PLAIN_YEAR = /^\d{4}-/;
const MINUTE_MS = 60_000;

/** Prints a time such as `2026-05-31T22:00:00Z` in another form. Returns other texts unchanged. */
export type PrintTime = (time: string) => string;

/**
 * Returns a function that prints a time as the clocks of the zone, which must exist, show it:
 * `2026-06-01T00:00:00+02:00`. Times stay in UTC if the zone is UTC, and where ISO 8601 cannot express them: offsets
 * with seconds, years with more than four digits.
 */
export function createTimePrinter(zone: string): PrintTime {
  if (zone === 'UTC') return (time) => time;
  return (time) => {
    if (!UTC_TIME.test(time)) return time;
    const moment = new Date(time);
    // `Date` accepts the 30th of February.
    if (moment.toJSON()?.slice(0, 19) !== time.slice(0, 19)) return time;
    const ms = moment.getTime();
    const offsetMs = getOffsetFinder(zone)(ms);
    const local = new Date(ms + offsetMs).toJSON();
    if (offsetMs % MINUTE_MS !== 0 || !PLAIN_YEAR.test(local)) return time;
    return `${local.slice(0, 19)}${printOffset(offsetMs / MINUTE_MS)}`;
  };
}

function printOffset(minutes: number): string {
  const size = Math.abs(minutes);
  const digits = (count: number) => String(count).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
}
