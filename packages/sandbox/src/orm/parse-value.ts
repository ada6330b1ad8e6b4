/**
 * Converts a value from a caller into the ORM's form, or throws the fault of an invalid value. x2many fields take
 * commands instead.
 */
import { Binary } from '../json/binary.ts';
import { nameType, printPython } from '../json/print-python.ts';
import { isObject, isTrue, type Json, toNumber } from '../json/value.ts';
import { checkText } from './check-text.ts';
import { cleanHtml } from './clean-html.ts';
import { Fault, typeError, valueError } from './fault.ts';
import { isNumeric, isText } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import { parseDay, parseTime } from './parse-date.ts';

export function parseValue(environment: Environment, model: Model, field: Field, given: Json): Json {
  const value = given instanceof Binary && field.type !== 'binary' ? given.toBase64() : given;
  if (isNumeric(field)) return parseNumber(field, value);
  if (field.type === 'boolean') return isTrue(value);
  if (value === null || value === false) return null;
  if (!isText(field) && !isTrue(value)) return null;
  switch (field.type) {
    case 'selection':
      if (field.selection?.some(([key]) => key === value)) return value;
      throw valueError(`Wrong value for ${model.name}.${field.name}: ${printPython(value)}`);
    case 'many2one':
      return parseLink(environment, field, value);
    case 'many2one_reference':
      return parseNumber(field, value);
    case 'html':
      if (typeof value !== 'string')
        throw new Fault('builtins.NotImplementedError', 'The sandbox takes texts as HTML only');
      return cleanHtml(checkText(value));
    case 'date':
      return parseDay(value);
    case 'datetime':
      return parseTime(value);
    case 'binary':
      if (value instanceof Binary) return value;
      if (typeof value === 'string') return decodeBase64(value);
      throw typeError(`argument should be a bytes-like object or ASCII string, not '${nameType(value)}'`);
    case 'json':
    case 'properties':
      return value;
    default:
      return checkText(typeof value === 'string' ? value : printPython(value));
  }
}

/** The id of a link. Odoo stores no link for any other value, such as the pair that a read returns. */
function parseLink(
  { personality, models }: Environment,
  { relation = '' }: Field,
  value: Json,
): number | null {
  const id = toNumber(value);
  if (id !== undefined) return Number.isInteger(id) ? id : null;
  const { linkIsWrong } = personality.texts;
  if (linkIsWrong && (typeof value === 'string' || isObject(value))) throw linkIsWrong(value);
  // An object holds the values of a record that does not exist yet.
  const unknown =
    isObject(value) && Object.keys(value).find((name) => !models.get(relation)?.fields.has(name));
  if (unknown) throw personality.texts.unknownFieldCreate(relation, unknown);
  return null;
}

/**
 * Converts a value as Python's `int()` or `float()` does. NaN is refused, because Odoo rounds most floats, and its
 * rounding fails on NaN.
 */
export function parseNumber(field: Field, value: Json): number {
  const isWhole = field.type !== 'float' && field.type !== 'monetary';
  if (!isTrue(value)) return 0;
  if (Array.isArray(value) || isObject(value)) {
    if (isWhole && isObject(value)) return 0;
    throw typeError(
      isWhole
        ? `int() argument must be a string, a bytes-like object or a real number, not '${nameType(value)}'`
        : `float() argument must be a string or a real number, not '${nameType(value)}'`,
    );
  }
  const number = value === true ? 1 : (toNumber(value) ?? readNumber(String(value), isWhole));
  if (!isWhole && field.unrounded) return number;
  if (Number.isNaN(number)) throw valueError('cannot convert float NaN to integer');
  if (!Number.isFinite(number))
    throw new Fault('builtins.OverflowError', 'cannot convert float infinity to integer');
  if (!isWhole) return number;
  if (Math.abs(number) >= 2 ** 31)
    throw new Fault('psycopg2.errors.NumericValueOutOfRange', 'integer out of range\n');
  return Math.trunc(number);
}

function readNumber(text: string, isWhole: boolean): number {
  const form = isWhole ? /^\s*[+-]?\d+\s*$/ : /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;
  if (form.test(text)) return Number(text);
  throw valueError(
    isWhole
      ? `invalid literal for int() with base 10: ${printPython(text)}`
      : `could not convert string to float: ${printPython(text)}`,
  );
}

/** Decodes like Python's base64.b64decode: ignores characters that are not base64, and requires padding. */
function decodeBase64(text: string): Binary {
  if (/[^\x00-\x7f]/.test(text)) throw valueError('string argument should contain only ASCII characters');
  const [, data = '', padding = ''] = /^([^=]*)(=*)/.exec(text.replace(/[^A-Za-z0-9+/=]/g, '')) ?? [];
  const left = data.length % 4;
  if (left === 1)
    throw new Fault(
      'binascii.Error',
      `Invalid base64-encoded string: number of data characters (${data.length}) cannot be 1 more than a multiple of 4`,
    );
  if (left > 0 && left + padding.length < 4) throw new Fault('binascii.Error', 'Incorrect padding');
  return Binary.of([Buffer.from(data, 'base64')]);
}
