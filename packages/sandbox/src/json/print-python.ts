/** Prints a value like Python's repr, which Odoo uses to quote values of the caller in messages. */
import { Binary } from './binary.ts';
import { printFloat } from './print-json.ts';
import { Float, type Json } from './value.ts';

export function printPython(value: Json): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return printText(value);
  if (value instanceof Float) return printFloat(value.value).replace('Infinity', 'inf').replace('NaN', 'nan');
  if (value instanceof Binary) return printText(value.toBase64());
  if (Array.isArray(value)) return `[${value.map(printPython).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([name, member]) => `${printText(name)}: ${printPython(member)}`)
      .join(', ')}}`;
  }
  return String(value);
}

export function printTuple(values: readonly Json[]): string {
  const inside = values.map(printPython).join(', ');
  return values.length === 1 ? `(${inside},)` : `(${inside})`;
}

/** Python's name for the type of a value. */
export function nameType(value: Json): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string' || value instanceof Binary) return 'str';
  if (value instanceof Float) return 'float';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'dict' : 'int';
}

function printText(text: string): string {
  const escaped = text
    .replace(/\\/g, '\\\\')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t')
    .replace(/[\x00-\x1f\x7f]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return text.includes("'") && !text.includes('"') ? `"${escaped}"` : `'${escaped.replace(/'/g, "\\'")}'`;
}
