/** Reads the header `range` of a download (RFC 9110 section 14.2), which must name one range of bytes. Pure. */

/** A range of bytes. `start` and `end` are inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * The range that is asked for, of a file of `size` bytes. Null: the whole file, also if the header has several ranges
 * or is invalid. A server may ignore the header.
 */
export function readByteRange(header: string | undefined, size: number): ByteRange | 'beyond_end' | null {
  const [, first, last, suffix] = RANGE.exec(header?.trim() ?? '') ?? [];
  if (suffix !== undefined) {
    const count = Number(suffix);
    return count === 0 || size === 0 ? 'beyond_end' : { start: Math.max(0, size - count), end: size - 1 };
  }
  if (first === undefined) return null;
  const start = Number(first);
  const end = Math.min(last === undefined ? size - 1 : Number(last), size - 1);
  if (last !== undefined && Number(last) < start) return null;
  return start >= size ? 'beyond_end' : { start, end };
}
