/** Decodes strings and names of members, in bytes that readDocument has checked. */
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

/** Returns a view of the bytes that has Buffer's methods, without copying them. */
export function viewAsBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const LOWER_U = 0x75;
const LOWER_C = 0x63;
const LOWER_D = 0x64;
const EIGHT = 0x38;
/** Setting this bit changes an ASCII letter to lower case, and leaves a digit as it is. */
const LOWER_CASE = 0x20;
const ESCAPE_BYTES = 6;
const SURROGATES = ['\\ud', '\\uD'];

/**
 * The index of the first escape that is half of a surrogate pair, such as `\ud83d` without the other half; null if
 * there is none. JSON allows such escapes, but they are not characters.
 */
export function findHalfSurrogate(bytes: Uint8Array, { start, end }: ByteRange): number | null {
  const text = viewAsBuffer(bytes).subarray(0, end);
  // A fast native search first, because nearly all texts have no such escape.
  if (SURROGATES.every((head) => text.indexOf(head, start) === -1)) return null;
  for (let at = start; at < end; ) {
    if (bytes[at] !== BACKSLASH) at++;
    else if (bytes[at + 1] !== LOWER_U) at += 2;
    else {
      const half = readHalf(text, at);
      const isPair = half === 'high' && readHalf(text, at + ESCAPE_BYTES) === 'low';
      if (!isPair && half !== null) return at;
      at += isPair ? 2 * ESCAPE_BYTES : ESCAPE_BYTES;
    }
  }
  return null;
}

/** Which half of a pair the escape at this index is, by its first two digits; null if it is neither. */
function readHalf(text: Buffer, at: number): 'high' | 'low' | null {
  if (text[at] !== BACKSLASH || text[at + 1] !== LOWER_U || (text[at + 2]! | LOWER_CASE) !== LOWER_D)
    return null;
  const digit = text[at + 3]! | LOWER_CASE;
  if (digit < EIGHT) return null;
  return digit < LOWER_C ? 'high' : 'low';
}

const ASCII_END = 0x80;

/** Each slot holds the last name with its hash, so that any number of names takes the same memory. */
const SLOTS: string[] = new Array(256).fill('');
const CACHED_LENGTH_MAX = 24;

/**
 * Decodes the names of members. Most names are the same few words, so they are cached: creating a string takes four
 * times as long as a lookup, and would be a third of the time to read a call.
 */
export function decodeName(bytes: Uint8Array, string: ByteRange): string {
  const start = string.start + 1;
  const end = string.end - 1;
  if (end - start > CACHED_LENGTH_MAX) return decodeString(bytes, string);
  let hash = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH || byte >= ASCII_END) return decodeString(bytes, string);
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const slot = (hash ^ (hash >>> 8)) & 0xff;
  const known = SLOTS[slot]!;
  if (isWrittenAt(bytes, start, end, known)) return known;
  const name = viewAsBuffer(bytes).toString('latin1', start, end);
  SLOTS[slot] = name;
  return name;
}

function isWrittenAt(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (text.length !== end - start) return false;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}
