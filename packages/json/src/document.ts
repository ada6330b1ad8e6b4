/**
 * Checks that bytes are exactly one JSON document (RFC 8259: UTF-8, no byte order mark, no trailing bytes). Accepts the
 * same documents as JSON.parse. Keeps no values: the other files of this folder find them in checked bytes.
 */
import { isUtf8 } from 'node:buffer';
import {
  checkNumber,
  checkString,
  checkWord,
  JsonDepthError,
  JsonSyntaxError,
  skipWhiteSpace,
} from './scan.ts';
import { readKind, skipString } from './skip.ts';
import type { JsonMember, JsonSpan } from './span.ts';
import { decodeName } from './string.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LOWER_T = 0x74;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const BOM_START = 0xef;

export interface JsonDocument {
  root: JsonSpan;
  /**
   * The members of the root, like the result of readMembers, without a second pass. Null unless the root is an object
   * of at most 64 members.
   */
  members: JsonMember[] | null;
}

/** Bounds the memory for an object with millions of short members. */
const MEMBERS_MAX = 64;
const NEVER = -1;

/** Sufficient for documents of usual depth. All calls can share it, because reading is synchronous. */
const SHALLOW_STACK = new Uint8Array(256);

/**
 * Throws a {@link JsonSyntaxError}, or a {@link JsonDepthError} as soon as objects and arrays are nested deeper than
 * `depthMax`. The depth of a scalar is 0, that of `{}` is 1.
 */
export function readDocument(bytes: Uint8Array, depthMax = Number.POSITIVE_INFINITY): JsonDocument {
  const length = bytes.length;
  if (!isUtf8(bytes)) throw new JsonSyntaxError(findInvalidUtf8(bytes), 'the bytes are not UTF-8');

  // One byte for each level instead of a recursive call: a million `[` must not exhaust the call stack.
  let stack = SHALLOW_STACK;
  let depth = 0;
  let inObject = false;
  const start = skipWhiteSpace(bytes, 0, length);
  let at = start;
  const members: JsonMember[] = [];
  /** The depth at which members are recorded. NEVER if the root is not an object, or if there are too many members. */
  let recordedDepth = at < length && bytes[at] === OPEN_OBJECT ? 1 : NEVER;
  let nameStart = 0;
  let valueStart = 0;

  value: for (;;) {
    const first = at < length ? bytes[at]! : 0;
    if (depth === recordedDepth) valueStart = at;
    if (first === QUOTE) at = checkString(bytes, at + 1, length);
    else if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      if (depth === stack.length) stack = growStack(stack);
      stack[depth++] = inObject ? 1 : 0;
      if (depth > depthMax) throw new JsonDepthError();
      inObject = first === OPEN_OBJECT;
      at = skipWhiteSpace(bytes, at + 1, length);
      if (at >= length || bytes[at] !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (inObject) {
          if (depth === recordedDepth) nameStart = at;
          at = checkName(bytes, at, length);
        }
        continue;
      }
      inObject = stack[--depth] === 1;
      at++;
    } else if (first === MINUS || (first >= ZERO && first <= NINE)) at = checkNumber(bytes, at, length);
    else if (first === LOWER_T) at = checkWord(bytes, at, length, 'true');
    else if (first === LOWER_F) at = checkWord(bytes, at, length, 'false');
    else if (first === LOWER_N) at = checkWord(bytes, at, length, 'null');
    else throw new JsonSyntaxError(at, explainMissingValue(bytes, at));

    while (depth > 0) {
      if (depth === recordedDepth) {
        if (members.length === MEMBERS_MAX) recordedDepth = NEVER;
        else members.push(recordMember(bytes, nameStart, valueStart, at));
      }
      at = skipWhiteSpace(bytes, at, length);
      const next = at < length ? bytes[at] : 0;
      if (next === COMMA) {
        at = skipWhiteSpace(bytes, at + 1, length);
        if (inObject) {
          if (depth === recordedDepth) nameStart = at;
          at = checkName(bytes, at, length);
        }
        continue value;
      }
      if (next !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        throw new JsonSyntaxError(at, explainMissing(`"," or "${inObject ? '}' : ']'}"`, at, length));
      }
      inObject = stack[--depth] === 1;
      at++;
    }
    break;
  }

  const rest = skipWhiteSpace(bytes, at, length);
  if (rest < length) throw new JsonSyntaxError(rest, 'nothing may follow the value');
  const root = { kind: readKind(bytes, start), start, end: at };
  return { root, members: recordedDepth === NEVER ? null : members };
}

function recordMember(bytes: Uint8Array, nameStart: number, start: number, end: number): JsonMember {
  const name = decodeName(bytes, { start: nameStart, end: skipString(bytes, nameStart) });
  return { name, nameStart, value: { kind: readKind(bytes, start), start, end } };
}

/** Returns the index of the member's value. */
function checkName(bytes: Uint8Array, start: number, length: number): number {
  if (start >= length || bytes[start] !== QUOTE) {
    throw new JsonSyntaxError(start, explainMissing("a member's name in double quotes", start, length));
  }
  const colon = skipWhiteSpace(bytes, checkString(bytes, start + 1, length), length);
  if (colon >= length || bytes[colon] !== COLON)
    throw new JsonSyntaxError(colon, explainMissing('":"', colon, length));
  return skipWhiteSpace(bytes, colon + 1, length);
}

function growStack(stack: Uint8Array): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(stack.length * 2);
  grown.set(stack);
  return grown;
}

function explainMissingValue(bytes: Uint8Array, at: number): string {
  if (at === 0 && bytes[0] === BOM_START) return 'a byte order mark may not stand here';
  return explainMissing('a value', at, bytes.length);
}

function explainMissing(what: string, at: number, length: number): string {
  return at >= length ? `the text ends where ${what} is expected` : `${what} is expected`;
}

/**
 * Step sizes in bytes. One of four consecutive sizes ends at the last byte of a character, so a large step succeeds
 * while the bytes are valid. Then steps of single characters lead to the invalid byte.
 */
const STEPS = [512, 511, 510, 509, 4, 3, 2, 1];

/**
 * Returns the first index at which no valid character of UTF-8 begins, for error messages. isUtf8 is faster, but does
 * not give the position. `bytes` must contain an invalid byte.
 */
function findInvalidUtf8(bytes: Uint8Array): number {
  let at = 0;
  for (;;) {
    const step = STEPS.find((size) => isUtf8(bytes.subarray(at, at + size)));
    if (step === undefined) return at;
    at += step;
  }
}
