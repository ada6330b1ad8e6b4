/** The result of Python's tuple() for a value: the characters of a string, the keys of a dict. */
import { nameType } from '../json/print-python.ts';
import { isObject, type Json } from '../json/value.ts';
import { typeError } from './fault.ts';

export function listItems(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (isObject(value)) return Object.keys(value);
  throw typeError(`'${nameType(value)}' object is not iterable`);
}

/** The result of Odoo's browse(): no ids, one, or several. */
export function browseIds(value: Json): readonly Json[] {
  if (!value) return [];
  return typeof value === 'number' || typeof value === 'bigint' ? [value] : listItems(value);
}
