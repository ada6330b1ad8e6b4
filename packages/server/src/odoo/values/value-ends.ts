/**
 * Finds the ends of values in bytes that can stop anywhere. Each function returns the index after the value, or
 * {@link INCOMPLETE} or {@link DIFFERENT}.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_N = 0x6e;

/** The value goes on after the last byte. */
export const INCOMPLETE = -1;
/** The bytes are another value than the one that was looked for. */
export const DIFFERENT = -2;

const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

/** `start` is the index of the opening quote. */
export function findStringEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  while (at < length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return INCOMPLETE;
}

/** The end of this text. */
export function findTextEnd(bytes: Uint8Array, start: number, text: Uint8Array): number {
  for (let index = 0; index < text.length; index++) {
    if (start + index === bytes.length) return INCOMPLETE;
    if (bytes[start + index] !== text[index]) return DIFFERENT;
  }
  return start + text.length;
}

/** The end of `false` or `null`. */
export function findEmptyEnd(bytes: Uint8Array, start: number): number {
  return findTextEnd(bytes, start, bytes[start] === LOWER_N ? NULL : FALSE);
}

/** The end of the digits, and of a minus before them. */
export function skipDigits(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start;
  if (at < length && bytes[at] === MINUS) at++;
  while (at < length && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  return at;
}

/** Whether the digits are an integer of JSON. */
export function isWholeNumber(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  return first < end && (bytes[first] !== ZERO || end === first + 1);
}
