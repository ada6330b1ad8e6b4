/** Counts the members and the values of a JSON document without decoding them. */
import { skipString } from './skip.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
/** `"":1,` */
const MEMBER_BYTES_MIN = 5;
/** Minimum length of a value and its separator. */
const VALUE_BYTES_MIN = 2;

/** Limits for all objects and lists of a document together. */
export interface CountLimits {
  /** Maximum members of all objects. */
  membersMax: number;
  /** Maximum values of all objects and lists. Counted as the commas between them, and one more. */
  valuesMax: number;
}

/**
 * The limit that the document exceeds; null if it exceeds none. `bytes` must be valid JSON, and is read at most once.
 */
export function findExcess(
  bytes: Uint8Array,
  { membersMax, valuesMax }: CountLimits,
): 'members' | 'values' | null {
  const { length } = bytes;
  if (length <= Math.min(membersMax * MEMBER_BYTES_MIN, valuesMax * VALUE_BYTES_MIN)) return null;
  let members = 0;
  let separators = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipString(bytes, at) - 1;
    else if (byte === COLON) {
      if (++members > membersMax) return 'members';
    } else if (byte === COMMA && ++separators >= valuesMax) return 'values';
  }
  return null;
}
