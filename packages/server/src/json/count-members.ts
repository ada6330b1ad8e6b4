/** Counts members of objects and separators of a JSON document, without reading them. */
import { skipString } from './skip.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;

/** The members of all objects. `bytes` is valid JSON. Ends as soon as there are more than `max`. */
export function countMembers(bytes: Uint8Array, max: number): number {
  return countOutsideStrings(bytes, COLON, max);
}

/** The commas between values in lists and objects. Otherwise as {@link countMembers}. */
export function countSeparators(bytes: Uint8Array, max: number): number {
  return countOutsideStrings(bytes, COMMA, max);
}

function countOutsideStrings(bytes: Uint8Array, searched: number, max: number): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipString(bytes, at) - 1;
    else if (byte === searched && ++count > max) break;
  }
  return count;
}
