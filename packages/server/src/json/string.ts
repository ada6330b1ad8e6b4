/** Decodes the bytes of a checked JSON string. */
import { viewAsBuffer } from './buffer.ts';
import type { ByteRange } from './span.ts';

const BACKSLASH = 0x5c;

/** Keeps escaped lone surrogates, like JSON.parse. */
export function decodeString(bytes: Uint8Array, string: ByteRange): string {
  const text = viewAsBuffer(bytes);
  for (let at = string.start + 1; at < string.end - 1; at++) {
    if (bytes[at] === BACKSLASH) return JSON.parse(text.toString('utf8', string.start, string.end));
  }
  return text.toString('utf8', string.start + 1, string.end - 1);
}
