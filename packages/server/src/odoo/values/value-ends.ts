/**
 * Finds the ends of values in bytes that can stop anywhere. Each function returns the index after the value, or
 * {@link INCOMPLETE} or {@link DIFFERENT}.
 */
import { PackedText } from './packed-text.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_N = 0x6e;
const SPACE = 0x20;

/** The value goes on after the last byte. */
export const INCOMPLETE = -1;
/** The bytes are another value than the one that was looked for. */
export const DIFFERENT = -2;

const WORD_BYTES = 4;
const FALSE = PackedText.of('false');
const NULL = PackedText.of('null');

/** Bytes of numbers and words. */
const SCALAR = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[-+.0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * `start` is the index of the opening quote. Reads words of four bytes: the test for a zero byte in a word is that
 * (word - 0x01010101) & ~word has its high bit set. It is exact for the first such byte.
 */
export function findStringEnd(bytes: Uint8Array, view: DataView, start: number): number {
  const lastWord = bytes.length - WORD_BYTES;
  let at = start + 1;
  while (at <= lastWord) {
    const word = view.getInt32(at, true);
    const quote = word ^ 0x22222222;
    const backslash = word ^ 0x5c5c5c5c;
    const marks = (((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash)) & 0x80808080;
    if (marks === 0) {
      at += WORD_BYTES;
      continue;
    }
    at += (31 - Math.clz32(marks & -marks)) >> 3;
    if (bytes[at] === QUOTE) return at + 1;
    at += 2;
  }
  return findStringEndSlowly(bytes, at);
}

function findStringEndSlowly(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start;
  while (at < length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return INCOMPLETE;
}

/** The end of this text. */
export function findTextEnd(view: DataView, start: number, text: PackedText): number {
  if (text.isAt(view, start)) return start + text.length;
  return view.byteLength - start < text.length ? INCOMPLETE : DIFFERENT;
}

/** The end of `false` or `null`. */
export function findEmptyEnd(bytes: Uint8Array, view: DataView, start: number): number {
  return findTextEnd(view, start, bytes[start] === LOWER_N ? NULL : FALSE);
}

/** The end of a number or a word, which may go on after the last byte. */
export function findScalarEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start;
  while (at < length && SCALAR[bytes[at]!] === 1) at++;
  return at === start || at === length ? DIFFERENT : at;
}

/** The end of an array of numbers and words. */
export function findFlatEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  while (at < length && (SCALAR[bytes[at]!] === 1 || bytes[at] === COMMA || bytes[at] === SPACE)) at++;
  return at < length && bytes[at] === CLOSE_ARRAY ? at + 1 : DIFFERENT;
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
