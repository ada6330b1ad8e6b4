/**
 * Checks single JSON tokens against RFC 8259 and gives the index after them. It keeps nothing, and does not interpret
 * the tokens. UTF-8 is checked elsewhere.
 *
 * `end` guards every read. After one read beyond the end of a typed array V8 drops its fast path for good, so that
 * truncated bodies could slow the process down.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
/** Setting this bit changes an ASCII letter to lower case. */
const LOWER_CASE = 0x20;

/** After this many plain bytes, the rest of a run is checked in words of four bytes. */
const SHORT_RUN_BYTES = 256;

/** Bytes that need no escape in a string: all but the quote, the backslash and control characters (section 7). */
const PLAIN = markBytes((byte) => byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH);
const WHITE_SPACE = markBytes((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
const ESCAPED = markBytes((byte) => '"\\/bfnrt'.includes(String.fromCharCode(byte)));
const HEX_DIGIT = markBytes((byte) => /[0-9a-fA-F]/.test(String.fromCharCode(byte)));

export function skipWhiteSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && WHITE_SPACE[bytes[at]!] === 1) at++;
  return at;
}

/** `start`: index after the opening quote. */
export function checkString(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const shortEnd = Math.min(end, at + SHORT_RUN_BYTES);
    while (at < shortEnd && PLAIN[bytes[at]!] === 1) at++;
    if (at === shortEnd) at = skipPlain(bytes, at, end);
    if (at === end) break;
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) throw new JsonSyntaxError(at, 'a control character in a string must be escaped');
    at = checkEscape(bytes, at + 1, end);
  }
  throw new JsonSyntaxError(end, 'the text ends inside a string');
}

/**
 * Index of the next byte that is not plain, or `end`. Three plain bytes must precede `start`, unless `start` is `end`.
 * Reads words of four bytes, which halves the time for files, sent as base64 in strings of megabytes. The test for a
 * byte b < n is that (b - n) & ~b has its high bit set.
 */
function skipPlain(bytes: Uint8Array, start: number, end: number): number {
  const { buffer, byteOffset } = bytes;
  const aligned = start - ((byteOffset + start) % 4);
  const words = new Int32Array(buffer, byteOffset + aligned, Math.floor((end - aligned) / 4));
  let index = 0;
  for (; index < words.length; index++) {
    const word = words[index]!;
    const quote = word ^ 0x22222222;
    const backslash = word ^ 0x5c5c5c5c;
    const marks =
      ((word - 0x20202020) & ~word) |
      ((quote - 0x01010101) & ~quote) |
      ((backslash - 0x01010101) & ~backslash);
    if ((marks & 0x80808080) !== 0) break;
  }
  let at = Math.max(start, aligned + index * 4);
  while (at < end && PLAIN[bytes[at]!] === 1) at++;
  return at;
}

function checkEscape(bytes: Uint8Array, start: number, end: number): number {
  if (start < end) {
    const byte = bytes[start]!;
    if (ESCAPED[byte] === 1) return start + 1;
    if (byte !== LOWER_U) throw new JsonSyntaxError(start, 'no such escape in a string');
  }
  const after = start + 5;
  for (let at = start + 1; at < after; at++) {
    if (at >= end) throw new JsonSyntaxError(end, 'the text ends inside a string');
    if (HEX_DIGIT[bytes[at]!] !== 1) throw new JsonSyntaxError(at, 'four hexadecimal digits must follow \\u');
  }
  return after;
}

/** `start`: index of the sign or of the first digit. */
export function checkNumber(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  if (bytes[at] === MINUS) at++;
  // No digit may follow a leading zero (section 6). The caller reports such a digit, because it expects a comma there.
  if (at < end && bytes[at] === ZERO) at++;
  else at = checkDigits(bytes, at, end);
  if (at < end && bytes[at] === DOT) at = checkDigits(bytes, at + 1, end);
  if (at < end && (bytes[at]! | LOWER_CASE) === LOWER_E) {
    at++;
    if (at < end && (bytes[at] === PLUS || bytes[at] === MINUS)) at++;
    at = checkDigits(bytes, at, end);
  }
  return at;
}

function checkDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  if (at === start) throw new JsonSyntaxError(at, 'a digit is expected');
  return at;
}

/** `word` is `true`, `false` or `null`. */
export function checkWord(bytes: Uint8Array, start: number, end: number, word: string): number {
  for (let index = 0; index < word.length; index++) {
    const at = start + index;
    if (at >= end || bytes[at] !== word.charCodeAt(index)) {
      throw new JsonSyntaxError(at, 'a value is expected');
    }
  }
  return start + word.length;
}

function markBytes(isMarked: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isMarked(byte) ? 1 : 0));
}

/**
 * Thrown if the bytes are not JSON. The message has the position and never quotes the bytes: a body may contain
 * credentials, and messages appear in answers and logs.
 */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** Index of the first invalid byte; the length if the text ends too early. */
  readonly offset: number;
  readonly reason: string;

  constructor(offset: number, reason: string) {
    super(`Not valid JSON at byte ${offset}: ${reason}.`);
    this.offset = offset;
    this.reason = reason;
  }
}

/** Thrown if objects and arrays are nested too deeply. The rest of the bytes may not be JSON. */
export class JsonDepthError extends Error {
  override readonly name = 'JsonDepthError';
}
