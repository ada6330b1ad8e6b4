/**
 * Converts a value from a caller into the ORM's form of it, or throws the fault of an invalid value. x2many fields take
 * commands instead.
 */
import { Binary } from '../json/binary.ts';
import { printPython } from '../json/print-python.ts';
import { isTrue, type Json, toNumber } from '../json/value.ts';
import { decodeBase64 } from './decode-base64.ts';
import { valueError } from './fault.ts';
import { isNumeric } from './field.ts';
import type { Environment, Field, Model } from './model.ts';

export function parseValue(environment: Environment, model: Model, field: Field, given: Json): Json {
  const value = given instanceof Binary && field.type !== 'binary' ? given.toBase64() : given;
  if (isNumeric(field)) return parseNumber(field, value);
  if (field.type === 'boolean') return isTrue(value);
  if (value === null || value === false || value === '') return null;
  switch (field.type) {
    case 'selection':
      if (field.selection?.some(([key]) => key === value)) return value;
      throw valueError(`Wrong value for ${model.name}.${field.name}: ${printPython(value)}`);
    case 'many2one':
    case 'many2one_reference':
      return toNumber(Array.isArray(value) ? value[0] : value) ?? null;
    case 'date':
    case 'datetime':
      return parseDate(environment, field, String(value));
    case 'binary':
      return value instanceof Binary ? value : decodeBase64(String(value));
    case 'json':
    case 'properties':
      return value;
    default:
      return typeof value === 'string' ? value : (toNumber(value)?.toString() ?? printPython(value));
  }
}

function parseNumber(field: Field, value: Json): number {
  const parsed = toNumber(value) ?? Number(value || 0);
  if (Number.isNaN(parsed)) {
    throw valueError(
      field.type === 'integer'
        ? `invalid literal for int() with base 10: ${printPython(value)}`
        : `could not convert string to float: ${printPython(value)}`,
    );
  }
  return field.type === 'integer' ? Math.trunc(parsed) : parsed;
}

function parseDate(environment: Environment, field: Field, value: string): string {
  const length = field.type === 'date' ? 10 : 19;
  const format = field.type === 'date' ? '%Y-%m-%d' : '%Y-%m-%d %H:%M:%S';
  const whole = length === 19 && value.length === 10 ? `${value} 00:00:00` : value;
  if (!/^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?/.test(whole)) {
    throw valueError(`time data ${printPython(value)} does not match format '${format}'`);
  }
  const time = new Date(`${whole.slice(0, 19).replace(' ', 'T')}${length === 19 ? 'Z' : ''}`);
  if (Number.isNaN(time.getTime()) || !time.toISOString().startsWith(whole.slice(0, 10))) {
    throw environment.personality.texts.dateOutOfRange(value, format);
  }
  return whole.slice(0, length);
}
