/**
 * Finds escapes that are half of a surrogate pair, such as `\ud83d` without the other half, in bytes that readDocument
 * has checked. JSON allows such escapes, but they are not characters.
 */
import { viewAsBuffer } from './buffer.ts';
import type { ByteRange } from './span.ts';

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const LOWER_C = 0x63;
const LOWER_D = 0x64;
const EIGHT = 0x38;
/** Setting this bit changes an ASCII letter to lower case, and leaves a digit as it is. */
const LOWER_CASE = 0x20;
const ESCAPE_BYTES = 6;
const SURROGATES = ['\\ud', '\\uD'];

/** The index of the first escape that is half of a pair; null if there is none. */
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
