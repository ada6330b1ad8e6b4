/** Rejects nearly all names by their last bytes, without decoding: a body can hold millions of names. */
import type { ByteRange } from '@erp-proxy/json';

/**
 * False for nearly all names that are not among the given names. The range includes the quotes; the name has no
 * escapes.
 */
export type NameFilter = (bytes: Uint8Array, name: ByteRange) => boolean;

/** In a context, `default_x` is the value of field `x` if the call gives none. */
export const DEFAULT = 'default_';

/** Makes a filter for these names, with and without `default_`. A leading `*` stands for any beginning. */
export function makeNameFilter(names: readonly string[]): NameFilter {
  const keys = new Set(names.flatMap(listKeys));
  return (bytes, name) => keys.has(readKey(bytes, name));
}

/** Number of bytes that a key is made of. No pattern is shorter. */
const KEY_BYTES = 7;
/** The bits in which letters and `_` differ. A key of these bits fits into a number. */
const KEY_BITS = 0x1f;

function listKeys(pattern: string): number[] {
  const name = pattern.replace('*', '');
  return [`"${name}"`, `"${DEFAULT}${name}"`].map((text) => {
    const bytes = Buffer.from(text);
    return readKey(bytes, { start: 0, end: bytes.length });
  });
}

/** The last bytes of a name, including its opening quote if the name is short. */
function readKey(bytes: Uint8Array, { start, end }: ByteRange): number {
  let key = 0;
  for (let at = Math.max(start, end - 1 - KEY_BYTES); at < end - 1; at++) {
    key = key * (KEY_BITS + 1) + (bytes[at]! & KEY_BITS);
  }
  return key;
}
