/** Finds when days begin and end in a time zone. Independent of calls. */
import { getOffsetFinder } from './zone-offset.ts';
import { printTime } from './zoned-time.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface LocalDay {
  /** Beginning of the day in UTC, in Odoo's form. `to` is the beginning of the next day. */
  from: string;
  to: string;
}

/** Returns a function that finds when a day such as `2026-10-25`, which must exist, begins and ends in the zone. */
export function createDayFinder(zone: string): (day: string) => LocalDay {
  const findOffsetMs = getOffsetFinder(zone);
  /**
   * Where clocks are set forward at midnight, midnight does not exist: the day begins at the first time after the
   * change.
   */
  const findStart = (midnight: number): string => {
    const offsets = [midnight + DAY_MS, midnight - DAY_MS].map(findOffsetMs);
    const [first = 0, last = 0] = offsets.map((offset) => midnight - offset).sort((a, b) => a - b);
    const start = first + findOffsetMs(first) >= midnight ? first : last;
    return printTime(new Date(start).toJSON());
  };
  return (day) => {
    const midnight = Date.parse(`${day}T00:00:00Z`);
    return { from: findStart(midnight), to: findStart(midnight + DAY_MS) };
  };
}
