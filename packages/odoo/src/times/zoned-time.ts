/** Reads times with a zone and converts them into Odoo's form. Independent of calls. */

const ZONED = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d+)? ?(Z|z|[+-]\d{2}(?::?\d{2})?)$/;
const PLAIN_YEAR = /^(?!0000)\d{4}-/;

/**
 * Converts `2026-10-21T03:31:00+02:00` into `2026-10-21 01:31:00`: in UTC, without fractions of a second, which Odoo
 * does not store. Undefined: the text is no time with a zone. Null: there is no such time.
 */
export function readZonedTime(text: string): string | null | undefined {
  const [, day, time, zone] = ZONED.exec(text) ?? [];
  if (day === undefined) return undefined;
  const seconds = time!.length === 5 ? `${time}:00` : time!;
  const moment = new Date(`${day}T${seconds}${completeZone(zone!)}`).toJSON();
  return isDay(day) && moment !== null && PLAIN_YEAR.test(moment) ? printTime(moment) : null;
}

/** Whether the text has the form of a time with a zone. */
export function isZonedTime(text: string): boolean {
  return ZONED.test(text);
}

/** Whether there is such a day. `Date` accepts the 30th of February. */
export function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true;
}

/** Converts a time in the form of `Date.toJSON` into Odoo's form. */
export function printTime(moment: string): string {
  return `${moment.slice(0, 10)} ${moment.slice(11, 19)}`;
}

/** Completes `+02` and `+0200` to `+02:00`, the only form that `Date` reads. */
function completeZone(zone: string): string {
  if (zone.length === 1) return 'Z';
  const digits = zone.slice(1).replace(':', '');
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2) || '00'}`;
}
