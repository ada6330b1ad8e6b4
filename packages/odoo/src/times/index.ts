/** Times and days of Odoo, which are in UTC, and times and days of a time zone. */
export { createDayFinder, type LocalDay } from './local-day.ts';
export { createTimePrinter, type PrintTime } from './local-time.ts';
export { isTimeZone } from './time-zone.ts';
export { isDay, isZonedTime, readZonedTime } from './zoned-time.ts';
