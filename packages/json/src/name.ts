/**
 * Decodes the names of members. Most names are the same few words, so they are cached: creating a string takes four
 * times as long as a lookup, and would be a third of the time to read a call.
 */
import { viewAsBuffer } from './buffer.ts';
import type { ByteRange } from './span.ts';
import { decodeString } from './string.ts';

const BACKSLASH = 0x5c;
const ASCII_END = 0x80;

/** Each slot holds the last name with its hash, so that any number of names takes the same memory. */
const SLOTS: string[] = new Array(256).fill('');
const CACHED_LENGTH_MAX = 24;

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
