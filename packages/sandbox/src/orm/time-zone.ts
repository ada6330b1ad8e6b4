/** Converts times in Odoo's form (`2026-11-21 23:59:59`) between UTC and a time zone. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether the value is the name of a time zone. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string') return false;
  try {
    findFormat(name);
    return true;
  } catch {
    return false;
  }
}

export function toLocal(utc: string, zone: string): string {
  const ms = parse(utc);
  return print(ms + findOffsetMs(ms, zone));
}

/** A time that occurs twice, when clocks are set back, means the later one. */
export function toUtc(local: string, zone: string): string {
  const ms = parse(local);
  const near = ms - findOffsetMs(ms, zone);
  return print(ms - findOffsetMs(near, zone));
}

function parse(time: string): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`);
}

function print(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

function findOffsetMs(ms: number, zone: string): number {
  const parts = findFormat(zone).formatToParts(ms);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0'] = /^GMT([+-])(\d+):(\d+)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Throws a RangeError for an unknown time zone. */
function findFormat(zone: string): Intl.DateTimeFormat {
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, format);
  return format;
}
