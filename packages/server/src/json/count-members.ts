/** Counts the members of all objects of a JSON document, without reading them. */
import { skipString } from './skip.ts';

const QUOTE = 0x22;
const COLON = 0x3a;

/** `bytes` is valid JSON. Ends as soon as there are more than `max`. */
export function countMembers(bytes: Uint8Array, max: number): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipString(bytes, at) - 1;
    else if (byte === COLON && ++count > max) break;
  }
  return count;
}
