/**
 * Finds the end of values in bytes that readDocument has checked. For unchecked bytes the result has no meaning, but
 * each function terminates.
 */
import type { JsonKind } from './span.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * The rest of a longer string is skipped by a native search, which is a hundred times faster per byte, but takes long
 * to start.
 */
const SHORT_RUN_BYTES = 256;

const KINDS = Array.from({ length: 256 }, (_, byte): JsonKind => {
  switch (String.fromCharCode(byte)) {
    case '{':
      return 'object';
    case '[':
      return 'array';
    case '"':
      return 'string';
    case 't':
      return 'true';
    case 'f':
      return 'false';
    case 'n':
      return 'null';
    default:
      return 'number';
  }
});

const OTHER = 0;
const OPENS = 1;
const CLOSES = 2;
const QUOTES = 3;
/** How a byte outside of strings affects the nesting. */
const NESTING = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if ('[{'.includes(character)) return OPENS;
  if (']}'.includes(character)) return CLOSES;
  return character === '"' ? QUOTES : OTHER;
});

/** Bytes that continue a number or a word. */
const SCALAR = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[-+.0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

export function skipValue(bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return skipNested(bytes, start);
  let at = start + 1;
  while (at < length && SCALAR[bytes[at]!] === 1) at++;
  return at;
}

/** `start`: index of the opening quote. Returns the index after the closing quote. */
export function skipString(bytes: Uint8Array, start: number): number {
  return Math.min(findClosingQuote(bytes, start + 1) + 1, bytes.length);
}

/**
 * Returns the index of the closing quote. `start`: an index in the string that is not within an escape. If the bytes
 * end before the string, returns the index beyond them at which the search can continue.
 */
function findClosingQuote(bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  let at = start;
  while (at < length) {
    const shortEnd = Math.min(length, at + SHORT_RUN_BYTES);
    while (at < shortEnd) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at >= length) break;
    const quote = bytes.indexOf(QUOTE, at);
    const found = quote < 0 ? length : quote;
    if (!isEscaped(bytes, at, found)) return found;
    at = found + 1;
  }
  return at;
}

/** `start`: an index in the same string that is not within an escape. */
function isEscaped(bytes: Uint8Array, start: number, quote: number): boolean {
  let at = quote;
  while (at > start && bytes[at - 1] === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
}

/** Finds the end of a value like skipValue, in slices of about `sliceBytes`. Other work can run between the slices. */
export function* skipValueInSlices(
  bytes: Uint8Array,
  start: number,
  sliceBytes: number,
): Generator<undefined, number, undefined> {
  if (isScalar(bytes, start)) return skipValue(bytes, start);
  let depth = 0;
  let isInString = false;
  let at = start;
  for (;;) {
    const slice = bytes.subarray(0, at + sliceBytes);
    while (at < slice.length) {
      if (isInString) {
        at = findClosingQuote(slice, at);
        if (at >= slice.length) break;
        isInString = false;
      } else {
        const nesting = NESTING[slice[at]!]!;
        if (nesting === OPENS) depth++;
        else if (nesting === CLOSES) depth--;
        else isInString = nesting === QUOTES;
      }
      at++;
      if (depth === 0 && !isInString) return at;
    }
    if (at >= bytes.length) return bytes.length;
    yield;
  }
}

/** True for a number or a word, which is not skipped in slices: 4 MB of digits take 5 ms. */
export function isScalar(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start];
  return first !== QUOTE && first !== OPEN_OBJECT && first !== OPEN_ARRAY;
}

export function readKind(bytes: Uint8Array, start: number): JsonKind {
  return KINDS[bytes[start]!]!;
}

function skipNested(bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  let depth = 0;
  let at = start;
  while (at < length) {
    const nesting = NESTING[bytes[at]!]!;
    if (nesting === OTHER) at++;
    else if (nesting === QUOTES) at = skipString(bytes, at);
    else {
      at++;
      depth += nesting === OPENS ? 1 : -1;
      if (depth === 0) return at;
    }
  }
  return length;
}
