/**
 * Finds the end of values in bytes that readDocument has checked. For unchecked bytes the result is undefined, but it
 * always terminates.
 */
import type { JsonKind } from './span.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Longer strings use a native search. It is a hundred times faster for each byte, but expensive to start. */
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
/** The effect of a byte outside strings on the nesting. */
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

/** `start` is the index of the opening quote. Gives the index after the closing one. */
export function skipString(bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  let at = start + 1;
  while (at < length) {
    const shortEnd = Math.min(length, at + SHORT_RUN_BYTES);
    while (at < shortEnd) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return length;
    if (!isEscaped(bytes, at, quote)) return quote + 1;
    at = quote + 1;
  }
  return length;
}

/** `start` is an index in the same string that is not within an escape. */
function isEscaped(bytes: Uint8Array, start: number, quote: number): boolean {
  let at = quote;
  while (at > start && bytes[at - 1] === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
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
