/** Decodes the bytes of a checked JSON string. */
import { viewAsBuffer } from './buffer.ts';
import type { ByteRange } from './span.ts';

const BACKSLASH = 0x5c;

/** Decodes a string. Keeps escaped lone surrogates, like JSON.parse. */
export function decodeString(bytes: Uint8Array, string: ByteRange): string {
  const text = viewAsBuffer(bytes);
  for (let at = string.start + 1; at < string.end - 1; at++) {
    if (bytes[at] === BACKSLASH) return JSON.parse(text.toString('utf8', string.start, string.end));
  }
  return text.toString('utf8', string.start + 1, string.end - 1);
}

/**
 * Decodes a string in parts, so that a long one need not be decoded at once. A part comes from about `partBytes` bytes,
 * and never ends within an escape or a character.
 */
export function* decodeStringParts(
  bytes: Uint8Array,
  string: ByteRange,
  partBytes: number,
): Generator<string, void, undefined> {
  const end = string.end - 1;
  for (let start = string.start + 1; start < end; ) {
    const partEnd = findPartEnd(bytes, start, end, partBytes);
    const text = viewAsBuffer(bytes).toString('utf8', start, partEnd);
    yield text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
    start = partEnd;
  }
}

function findPartEnd(bytes: Uint8Array, start: number, end: number, partBytes: number): number {
  const stop = Math.min(end, start + partBytes);
  let at = start;
  while (at < stop) at += bytes[at] === BACKSLASH ? measureEscape(bytes, at) : 1;
  for (let rest = 0; rest < CONTINUATIONS_MAX && (bytes[at]! & 0xc0) === 0x80; rest++) at++;
  return Math.min(at, end);
}

/** Maximum bytes of a UTF-8 character after its first one. */
const CONTINUATIONS_MAX = 3;
const LETTER_U = 0x75;
const UNICODE_BYTES = 6;

/** Length of the escape at this index. Two escapes that are one character count as one. */
function measureEscape(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== LETTER_U) return 2;
  const isPair =
    isEscapeOf(HIGH_SURROGATE, bytes, at) && isEscapeOf(LOW_SURROGATE, bytes, at + UNICODE_BYTES);
  return isPair ? 2 * UNICODE_BYTES : UNICODE_BYTES;
}

const HIGH_SURROGATE = /^\\u[dD][89abAB]/;
const LOW_SURROGATE = /^\\u[dD][c-fC-F]/;

function isEscapeOf(surrogate: RegExp, bytes: Uint8Array, at: number): boolean {
  return surrogate.test(viewAsBuffer(bytes).toString('latin1', at, at + UNICODE_BYTES));
}
