/** The day, week, month, quarter or year of a date, with Odoo's label. */
import { valueError } from './fault.ts';
import { toLocal, toUtc } from './time-zone.ts';

export interface DateSpan {
  readonly label: string;
  readonly from: string;
  readonly to: string;
}

/**
 * A time is assigned to the span in which it is in the time zone; the span itself is in UTC. A date has no time zone.
 */
export function cutDate(value: string, unit: string, zone = 'UTC'): DateSpan {
  if (zone === 'UTC' || value.length === 10) return cut(value, unit);
  const { label, from, to } = cut(toLocal(value.slice(0, 19), zone), unit);
  return { label, from: toUtc(from, zone), to: toUtc(to, zone) };
}

function cut(value: string, unit: string): DateSpan {
  const [year = 0, month = 1, day = 1] = value.slice(0, 10).split('-').map(Number);
  const at = new Date(Date.UTC(year, month - 1, day));
  const print = (date: Date) =>
    date.toISOString().slice(0, 10) + (value.length > 10 ? ` ${date.toISOString().slice(11, 19)}` : '');
  const span = (label: string, from: Date, to: Date): DateSpan => ({
    label,
    from: print(from),
    to: print(to),
  });
  const utc = (y: number, m: number, d = 1) => new Date(Date.UTC(y, m, d));
  switch (unit) {
    case 'day':
      return span(
        `${String(day).padStart(2, '0')} ${months[month - 1]?.slice(0, 3)} ${year}`,
        at,
        utc(year, month - 1, day + 1),
      );
    case 'week': {
      const monday = day - ((at.getUTCDay() + 6) % 7);
      const { week, weekYear } = countWeeks(utc(year, month - 1, monday + 3));
      return span(`W${week} ${weekYear}`, utc(year, month - 1, monday), utc(year, month - 1, monday + 7));
    }
    case 'month':
      return span(`${months[month - 1]} ${year}`, utc(year, month - 1), utc(year, month));
    case 'quarter': {
      const first = Math.floor((month - 1) / 3) * 3;
      return span(`Q${first / 3 + 1} ${year}`, utc(year, first), utc(year, first + 3));
    }
    case 'year':
      return span(String(year), utc(year, 0), utc(year + 1, 0));
    default:
      throw valueError(`Invalid date granularity '${unit}'`);
  }
}

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

function countWeeks(thursday: Date): { week: number; weekYear: number } {
  const weekYear = thursday.getUTCFullYear();
  const days = (thursday.getTime() - Date.UTC(weekYear, 0, 1)) / 86_400_000;
  return { week: Math.floor(days / 7) + 1, weekYear };
}
