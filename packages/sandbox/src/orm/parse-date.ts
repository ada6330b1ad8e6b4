/**
 * Reads a date or a time like Odoo, with the faults of Python's strptime. The format of a time is cut by the length of
 * the text: `2026-01-01 10:30` and `2026` are times, and `yesterday` is a fault (docs/odoo-facts.md#written-dates).
 */
import { nameType, printPython } from '../json/print-python.ts';
import { isObject, type Json } from '../json/value.ts';
import { typeError, valueError } from './fault.ts';

const dateFormat = '%Y-%m-%d';
const timeFormat = `${dateFormat} %H:%M:%S`;

/** Returns `2026-01-31`. Ignores the text after the day. */
export function parseDay(value: Json): string {
  if (isObject(value)) throw typeError("unhashable type: 'slice'");
  checkType(value);
  if (typeof value !== 'string') throw typeError(`'${nameType(value)}' object is not subscriptable`);
  return strptime(value.slice(0, 10), dateFormat).slice(0, 10);
}

/** Returns `2026-01-31 12:00:00`. */
export function parseTime(value: Json): string {
  checkType(value);
  if (typeof value !== 'string') throw typeError(`object of type '${nameType(value)}' has no len()`);
  return strptime(value, timeFormat.slice(0, value.length - 2));
}

function checkType(value: Json): void {
  if (Array.isArray(value) || isObject(value))
    throw typeError(`strptime() argument 1 must be str, not ${nameType(value)}`);
}

/** The range of each directive, which Python reads with one digit or two. */
const directives: Readonly<Record<string, string>> = {
  Y: '(?<Y>\\d{4})',
  m: '(?<m>1[0-2]|0[1-9]|[1-9])',
  d: '(?<d>3[01]|[12]\\d|0[1-9]|[1-9])',
  H: '(?<H>2[0-3]|[01]\\d|\\d)',
  M: '(?<M>[0-5]\\d|\\d)',
  S: '(?<S>6[01]|[0-5]\\d|\\d)',
};

function strptime(text: string, format: string): string {
  if (/%$/.test(format)) throw valueError(`stray % in format '${format}'`);
  const pattern = format
    .replace(/ +/g, '\\s+')
    .replace(/%(\w)/g, (_, name: string) => directives[name] ?? '');
  const found = new RegExp(`^${pattern}`).exec(text);
  if (!found) throw valueError(`time data ${printPython(text)} does not match format '${format}'`);
  const rest = text.slice(found[0].length);
  if (rest) throw valueError(`unconverted data remains: ${rest}`);
  const { Y = '1900', m = '1', d = '1', H = '0', M = '0', S = '0' } = found.groups ?? {};
  if (Number(S) > 59) throw valueError('second must be in 0..59');
  const [month, day, hour, minute, second] = [m, d, H, M, S].map((part) => part.padStart(2, '0'));
  const last = new Date(Date.UTC(2000, Number(m), 0));
  last.setUTCFullYear(Number(Y), Number(m), 0);
  if (Number(d) > last.getUTCDate()) throw valueError('day is out of range for month');
  return `${Y}-${month}-${day} ${hour}:${minute}:${second}`;
}
