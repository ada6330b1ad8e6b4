/** Finds the offsets of time zones. Independent of calls. */

/** Matches `4/12/2026, GMT+01:00`; up to 1900, the offset can have seconds. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** The offset of a zone at a time, both in milliseconds, the time since 1970. Takes some 4 µs. */
export type FindOffset = (ms: number) => number;

/** Number of zones whose functions are kept, because making one takes some 100 µs. */
const KEPT_MAX = 50;
const kept = new Map<string, FindOffset>();

/** The zone must exist. */
export function getOffsetFinder(zone: string): FindOffset {
  const found = kept.get(zone);
  if (found !== undefined) return found;
  if (kept.size >= KEPT_MAX) kept.clear();
  const made = createOffsetFinder(zone);
  kept.set(zone, made);
  return made;
}

function createOffsetFinder(zone: string): FindOffset {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  return (ms) => {
    const [, sign, ...units] = OFFSET.exec(format.format(ms)) ?? [];
    const [hours = 0, minutes = 0, seconds = 0] = units.map((unit) => Number(unit ?? 0));
    return (sign === '-' ? -1000 : 1000) * ((hours * 60 + minutes) * 60 + seconds);
  };
}
