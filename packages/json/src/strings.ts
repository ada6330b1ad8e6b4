/**
 * Finds strings within a value, including names of members, in bytes that readDocument has checked. Reads each byte
 * once and decodes nothing, so that searching a million strings takes no longer than skipping them.
 */
import { skipWhiteSpace } from './scan.ts';
import { skipString } from './skip.ts';
import type { ByteRange } from './span.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** Setting this bit changes an ASCII letter to lower case. */
const LOWER_CASE = 0x20;

/**
 * True if `test` returns true for any string. `start` and `end`: indexes of the opening quote, and after the closing
 * quote.
 */
export function someString(
  bytes: Uint8Array,
  { start, end }: ByteRange,
  test: (start: number, end: number) => boolean,
): boolean {
  let at = start;
  while (at < end) {
    if (bytes[at] !== QUOTE) {
      at++;
      continue;
    }
    const stringEnd = skipString(bytes, at);
    if (test(at, stringEnd)) return true;
    at = stringEnd;
  }
  return false;
}

/**
 * True if `test` returns true for the name of any member, at any depth. Its arguments are the indexes of the name's
 * opening quote, after its closing quote, and of the value.
 */
export function someName(
  bytes: Uint8Array,
  range: ByteRange,
  test: (start: number, end: number, valueStart: number) => boolean,
): boolean {
  return someString(bytes, range, (start, end) => {
    const colon = skipWhiteSpace(bytes, end, range.end);
    return bytes[colon] === COLON && test(start, end, skipWhiteSpace(bytes, colon + 1, range.end));
  });
}

/**
 * True if `test` returns true for any member with one of these names, at any depth. `valueStart`: index of the value.
 * The names must be ASCII.
 */
export function someMember(
  bytes: Uint8Array,
  range: ByteRange,
  names: readonly string[],
  test: (valueStart: number) => boolean,
): boolean {
  return someString(bytes, range, (start, end) => {
    if (!names.some((name) => isText(bytes, start, end, name))) return false;
    const colon = skipWhiteSpace(bytes, end, range.end);
    return bytes[colon] === COLON && test(skipWhiteSpace(bytes, colon + 1, range.end));
  });
}

/** True if these letters, in upper or lower case, are at the index. */
export function isWrittenAt(bytes: Uint8Array, at: number, letters: string): boolean {
  for (let index = 0; index < letters.length; index++) {
    if ((bytes[at + index]! | LOWER_CASE) !== (letters.charCodeAt(index) | LOWER_CASE)) return false;
  }
  return true;
}

/** True if the string decodes to this text. */
function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  let at = start + 1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (bytes[at] === code) at++;
    else if (bytes[at] === BACKSLASH && isWrittenAt(bytes, at + 1, `u00${code.toString(16)}`)) at += 6;
    else return false;
  }
  return at === end - 1;
}
