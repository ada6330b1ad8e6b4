/** Converts times of inputs, which have no time zone: they are in that of the browser. Pure. */

/** Prints a time for an input of type `datetime-local`; empty for null. */
export function printLocalTime(at: string | null): string {
  if (at === null) return '';
  const time = new Date(at);
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  const day = `${pad(time.getFullYear(), 4)}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  return `${day}T${pad(time.getHours())}:${pad(time.getMinutes())}`;
}

const COMPLETE = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d/;

/** Returns ISO 8601 in UTC; null for an input that is empty or incomplete. */
export function readLocalTime(text: string): string | null {
  const time = COMPLETE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString().replace('.000Z', 'Z');
}

export function addDays(days: number, from = Date.now()): string {
  return new Date(from + days * 86_400_000).toISOString();
}
