/** Reads integers from the bytes of checked JSON numbers, by value and not by notation: `2.0` is 2. */
import type { JsonSpan } from './span.ts';

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const DOT = 0x2e;
const LOWER_E = 0x65;
/** Setting this bit changes an ASCII letter to lower case. */
const LOWER_CASE = 0x20;

/** Any integer of up to 15 digits is exact as a JavaScript number. */
const EXACT_DIGITS = 15;
/** Maximum digits, which bounds the memory for a short text such as `1e1000000000`. Odoo has no longer numbers. */
const DIGITS_MAX = 256;

/**
 * Returns a number if it is exact, otherwise a bigint. Null if the value is not a number, not an integer, or has more
 * than 256 digits. Negative zero is 0.
 */
export function readInteger(bytes: Uint8Array, span: JsonSpan): number | bigint | null {
  if (span.kind !== 'number') return null;
  const isNegative = bytes[span.start] === MINUS;
  const start = isNegative ? span.start + 1 : span.start;
  if (span.end - start > EXACT_DIGITS) return readAnyInteger(bytes, start, span.end, isNegative);
  let value = 0;
  for (let at = start; at < span.end; at++) {
    const byte = bytes[at]!;
    if (byte < ZERO || byte > NINE) return readAnyInteger(bytes, start, span.end, isNegative);
    value = value * 10 + (byte - ZERO);
  }
  return isNegative && value !== 0 ? -value : value;
}

function readAnyInteger(bytes: Uint8Array, start: number, end: number, isNegative: boolean) {
  let digits = '';
  /** Number of zeros since the last other digit. They count only if another digit follows. */
  let zeros = 0;
  let decimals = 0;
  let isFraction = false;
  let at = start;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if ((byte | LOWER_CASE) === LOWER_E) break;
    if (byte === DOT) {
      isFraction = true;
      continue;
    }
    if (isFraction) decimals++;
    if (byte === ZERO) {
      if (digits !== '') zeros++;
      continue;
    }
    if (digits.length + zeros >= DIGITS_MAX) return null;
    digits += '0'.repeat(zeros) + String.fromCharCode(byte);
    zeros = 0;
  }
  if (digits === '') return 0;

  const scale = zeros - decimals + readExponent(bytes, at + 1, end);
  if (scale < 0 || digits.length + scale > DIGITS_MAX) return null;
  const value = BigInt((isNegative ? '-' : '') + digits + '0'.repeat(scale));
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : value;
}

/**
 * `start`: index after the `e`, or after the end if there is no `e`. Returns infinity if the exponent is too large for
 * a number.
 */
function readExponent(bytes: Uint8Array, start: number, end: number): number {
  let exponent = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= ZERO) exponent = exponent * 10 + (byte - ZERO);
  }
  return start < end && bytes[start] === MINUS ? -exponent : exponent;
}
