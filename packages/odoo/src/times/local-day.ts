/** Days in a time zone. Knows no call. */
import { getOffsetFinder } from './zone-offset.ts';
import { printTime } from './zoned-time.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface LocalDay {
  /** Both in the form of Odoo, in UTC. The end is the beginning of the next day. */
  from: string;
  to: string;
}

/** Returns a function that finds when a day such as `2026-10-25`, which must exist, begins and ends in the zone. */
export function createDayFinder(zone: string): (day: string) => LocalDay {
  const findOffsetMs = getOffsetFinder(zone);
  /** Clocks that are set forward at midnight skip it. The day then begins at the first time that they show. */
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
