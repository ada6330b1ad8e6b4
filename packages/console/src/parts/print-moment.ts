/** Prints times in the browser's time zone, year first, so that they sort as text. */

/** Prints a time such as `2026-03-31 14:05:09`. */
export function printMoment(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  return `${printDay(date)} ${printClock(date)}`;
}

/** Like {@link printMoment}, with milliseconds. */
export function printExactMoment(time: string | number): string {
  const date = new Date(time);
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0');
  return Number.isNaN(date.getTime()) ? String(time) : `${printMoment(time)}.${milliseconds}`;
}

function printDay(date: Date): string {
  return [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join('-');
}

function printClock(date: Date): string {
  return [pad(date.getHours()), pad(date.getMinutes()), pad(date.getSeconds())].join(':');
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
