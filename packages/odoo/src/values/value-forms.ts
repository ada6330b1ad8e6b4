/**
 * The forms of single values that a field takes (docs/values.md#writing). Odoo takes most other values too, and stores
 * something else: a text becomes an empty many2one or a true boolean (docs/odoo-facts.md#written-values).
 */
import { decodeString, type JsonSpan, readInteger } from '@erp-proxy/json';
import { isDay } from '../times/zoned-time.ts';

/** By type: what a field takes, for the error about a value of another form. */
const TEXT = 'a text';
const EXPECTED: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  char: TEXT,
  text: TEXT,
  html: TEXT,
  selection: 'one of the values of the selection: a text, or a positive integer if they are integers',
  binary: 'a text: the content in base64',
  integer: 'an integer',
  many2one_reference: 'the id of a record',
  float: 'a number',
  monetary: 'a number',
  date: 'a date that exists, such as "2026-10-21"',
};
const TEXTS: ReadonlySet<string> = new Set(['char', 'text', 'html', 'binary']);
const NUMBERS: ReadonlySet<string> = new Set(['float', 'monetary']);
const INTEGERS: ReadonlySet<string> = new Set(['integer', 'many2one_reference']);
const DATE_LENGTH = 12;
const DATE = /^(?!0000)\d{4}-\d{2}-\d{2}$/;
const PLAIN_TIME = /^(?!0000)(\d{4}-\d{2}-\d{2})( ([01]\d|2[0-3]):[0-5]\d:[0-5]\d)?$/;

/**
 * Describes what a field of the type takes in place of the value; null if it takes the value, or if values of the type
 * have any form. Every type takes null and false for no value.
 */
export function findExpectedForm(type: string, bytes: Uint8Array, value: JsonSpan): string | null {
  if (value.kind === 'null' || value.kind === 'false') return null;
  return hasForm(type, bytes, value) ? null : EXPECTED[type]!;
}

function hasForm(type: string, bytes: Uint8Array, value: JsonSpan): boolean {
  if (TEXTS.has(type)) return value.kind === 'string';
  if (NUMBERS.has(type)) return value.kind === 'number';
  if (INTEGERS.has(type)) return readInteger(bytes, value) !== null;
  // Odoo refuses texts that are not in the selection, but takes 0 for no value.
  if (type === 'selection') return value.kind === 'string' || (readInteger(bytes, value) ?? 0) > 0;
  if (type === 'boolean') return value.kind === 'true';
  if (type !== 'date') return true;
  if (value.kind !== 'string' || value.end - value.start !== DATE_LENGTH) return false;
  const day = decodeString(bytes, value);
  return DATE.test(day) && isDay(day);
}

/** Whether the text is a day, or a time in UTC as Odoo writes it, that exists. */
export function isPlainTime(text: string): boolean {
  const [, day] = PLAIN_TIME.exec(text) ?? [];
  return day !== undefined && isDay(day);
}
