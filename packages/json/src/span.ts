/**
 * The types of this folder. They describe ranges of bytes instead of values, so that JSON passes through the proxy
 * unchanged (`1.0`, integers beyond 2^53, key order, escapes).
 */

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/** The range `[start, end)` in the bytes. */
export interface ByteRange {
  start: number;
  end: number;
}

/** One value, without white space around it. */
export interface JsonSpan extends ByteRange {
  kind: JsonKind;
}

export interface JsonMember {
  /** The decoded name: `id` for `"\u0069d"`. */
  name: string;
  /** Index of the name's opening quote. */
  nameStart: number;
  value: JsonSpan;
}
