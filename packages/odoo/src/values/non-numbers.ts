/**
 * Finds `NaN`, `Infinity` and `-Infinity` in what Odoo prints. Python prints them for floats, but JSON does not allow
 * them (docs/odoo-facts.md#non-numbers). The rest must be JSON.
 */
import { viewAsBuffer } from '@erp-proxy/json';

export interface NonNumber {
  start: number;
  end: number;
  /** The name of the member that has this value; null for an element of a list. */
  field: string | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const MINUS = 0x2d;
const UPPER_N = 0x4e;
const UPPER_I = 0x49;
const WORDS = ['NaN', 'Infinity'] as const;
/** Longest name of a field, or of an aggregate such as `amount_total:sum`. */
const NAME_LENGTH_MAX = 128;
/** Bytes before a value that {@link findNonNumbers} may have to read: a name with its quotes, a colon and spaces. */
export const BEFORE_BYTES = NAME_LENGTH_MAX + 8;
/** Length of the longest value, and one byte after it. */
export const VALUE_BYTES = '-Infinity'.length + 1;
const NAME_BYTE = /[\w.:-]/;

/** Whether the bytes may have NaN or Infinity: a fast native search. */
export function mayHaveNonNumber(bytes: Uint8Array): boolean {
  const text = viewAsBuffer(bytes);
  return WORDS.some((word) => text.includes(word));
}

/**
 * Each NaN and Infinity in one whole JSON value, whose strings are skipped. None if it has other words that are no
 * JSON.
 */
export function listNonNumbers(bytes: Uint8Array): NonNumber[] {
  const text = viewAsBuffer(bytes);
  const found: NonNumber[] = [];
  if (!mayHaveNonNumber(bytes)) return found;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = skipText(bytes, at);
    else if (byte === UPPER_N || byte === UPPER_I) {
      const start = bytes[at - 1] === MINUS ? at - 1 : at;
      const word = byte === UPPER_N ? WORDS[0] : WORDS[1];
      const end = at + word.length;
      if (text.toString('latin1', at, end) !== word) return [];
      found.push({ start, end, field: findName(bytes, start) });
      at = end;
    } else at++;
  }
  return found;
}

/**
 * Finds each NaN and Infinity that is the value of a member at or after `from`, in their order, in bytes that can begin
 * and end anywhere. A member is recognised without its record: a quote inside a string has a backslash before it, and
 * no letter follows a string. Elements of lists are not found.
 */
export function* findNonNumbers(bytes: Uint8Array, from: number): Generator<NonNumber, void, undefined> {
  const text = viewAsBuffer(bytes);
  const next = WORDS.map((word) => text.indexOf(word, from));
  for (;;) {
    const [nan, infinity] = next as [number, number];
    const index = infinity === -1 || (nan !== -1 && nan < infinity) ? 0 : 1;
    const at = next[index]!;
    if (at === -1) return;
    const word = WORDS[index]!;
    // Each word is searched for once: the next `Infinity` can be far away while there are thousands of `NaN`.
    next[index] = text.indexOf(word, at + 1);
    const start = bytes[at - 1] === MINUS ? at - 1 : at;
    const field = findName(bytes, start);
    if (field !== null) yield { start, end: at + word.length, field };
  }
}

/**
 * Finds each NaN and Infinity in the pieces of one JSON value, also as an element of a list. It reads each byte, while
 * {@link findNonNumbers} searches for the words.
 */
export class ListedNonNumbers {
  #isInText = false;
  #isEscaped = false;

  /** Continues with the bytes from `from` to `to`. A value that goes on behind `to` is found too. */
  *find(bytes: Uint8Array, from: number, to: number): Generator<NonNumber, void, undefined> {
    const text = viewAsBuffer(bytes);
    let quote = from - 1;
    let backslash = from - 1;
    for (let at = from; at < to; ) {
      if (!this.#isInText) {
        const byte = bytes[at]!;
        at++;
        if (byte === QUOTE) this.#isInText = true;
        // JSON has no other word with these letters.
        else if (byte === UPPER_N || byte === UPPER_I) {
          const start = bytes[at - 2] === MINUS ? at - 2 : at - 1;
          const word = byte === UPPER_N ? WORDS[0] : WORDS[1];
          const end = at - 1 + word.length;
          if (!word.startsWith(text.toString('latin1', at - 1, Math.min(end, to)))) continue;
          yield { start, end, field: findName(bytes, start) };
          at = end;
        }
        continue;
      }
      if (this.#isEscaped) {
        this.#isEscaped = false;
        at++;
        continue;
      }
      if (quote < at) quote = findByte(text, QUOTE, at, to);
      if (backslash < at) backslash = findByte(text, BACKSLASH, at, to);
      at = Math.min(quote, backslash) + 1;
      if (quote < backslash) this.#isInText = false;
      else if (backslash < to) this.#isEscaped = true;
    }
  }
}

/** The next place of the byte, or `to`. */
function findByte(text: Buffer, byte: number, from: number, to: number): number {
  const at = text.indexOf(byte, from);
  return at === -1 || at > to ? to : at;
}

/** Replaces each of the values by `null`. */
export function replaceNonNumbers(bytes: Uint8Array, found: readonly NonNumber[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { start, end } of found) {
    parts.push(bytes.subarray(at, start), NULL);
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

export const NULL = Buffer.from('null');

function skipText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The name before the value, if it has only characters that names of fields have. */
function findName(bytes: Uint8Array, start: number): string | null {
  const colon = skipSpacesBack(bytes, start - 1);
  if (bytes[colon] !== COLON) return null;
  const last = skipSpacesBack(bytes, colon - 1);
  if (bytes[last] !== QUOTE) return null;
  let at = last - 1;
  while (last - at <= NAME_LENGTH_MAX && NAME_BYTE.test(String.fromCharCode(bytes[at] ?? 0))) at--;
  if (bytes[at] !== QUOTE || bytes[at - 1] === BACKSLASH || at === last - 1) return null;
  const name = viewAsBuffer(bytes).toString('latin1', at + 1, last);
  return /^\w/.test(name) ? name : null;
}

function skipSpacesBack(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a) at--;
  return at;
}
