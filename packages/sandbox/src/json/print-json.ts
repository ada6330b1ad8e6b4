/**
 * Prints JSON with the bytes of Python's json.dumps(…, ensure_ascii=False) (docs/odoo-facts.md#json-spacing): `", "`
 * and `": "`, floats always with a point, non-ASCII characters unescaped. The text may contain a lone surrogate. Python
 * cannot encode lone surrogates either, so the caller answers 500. A file becomes its number between two NUL
 * characters, which occur nowhere else in the text, and is added to `binaries`.
 */
import { Binary } from './binary.ts';
import { Float, type Json } from './value.ts';

export function printJson(value: Json, binaries: Binary[] = []): string {
  if (value === null) return 'null';
  if (value instanceof Float) return printFloat(value.value);
  if (value instanceof Binary) return `"\0${binaries.push(value) - 1}\0"`;
  if (typeof value === 'string') return printString(value);
  if (typeof value === 'object') {
    if (Array.isArray(value)) return `[${value.map((item) => printJson(item, binaries)).join(', ')}]`;
    const members = Object.entries(value).map(
      ([name, member]) => `${printString(name)}: ${printJson(member, binaries)}`,
    );
    return `{${members.join(', ')}}`;
  }
  return String(Object.is(value, -0) ? 0 : value);
}

/** Python's repr of a float: an exponent below -4 and from 16 on, with at least two digits. */
export function printFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const text = exponent < 0 ? printSmall(mantissa, exponent) : String(value);
  return text.includes('.') ? text : `${text}.0`;
}

// JavaScript prints 1e-7 and smaller with an exponent, Python 1e-5 and smaller: between them, there are at most four
// zeros.
function printSmall(mantissa: string, exponent: number): string {
  const digits = mantissa.replace(/[-.]/g, '');
  return `${mantissa.startsWith('-') ? '-' : ''}0.${'0'.repeat(-exponent - 1)}${digits}`;
}

// JSON.stringify escapes lone surrogates. Python keeps them and then fails to encode them.
function printString(text: string): string {
  if (text.isWellFormed()) return JSON.stringify(text);
  return Array.from(text, (unit) => (unit.isWellFormed() ? JSON.stringify(unit).slice(1, -1) : unit))
    .join('')
    .replace(/^|$/g, '"');
}
