/**
 * Reads the beginning of an answer to `read` of one record, up to the value of its last field: the file. The answer
 * arrives in pieces, and the file is too large to wait for. Odoo prints the fields in the order of the request. Pure.
 */
import { decodeString, readKind, skipString, skipValue, skipWhiteSpace } from '@erp-proxy/json';

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** Member with the file from Odoo 19.5 on, where its value is an object of `filename`, `content` and `size`. */
const CONTENT = 'content';

export type RecordHead =
  /** The bytes end before the value of the field. */
  | { kind: 'incomplete' }
  /** The answer is an error. */
  | { kind: 'error' }
  /** The value is a string. `start`: index after its quote. `texts`: the texts and numbers before it, by field. */
  | { kind: 'file'; start: number; texts: ReadonlyMap<string, string> }
  /** The value is `false`: the field is empty. */
  | { kind: 'empty'; texts: ReadonlyMap<string, string> }
  /** There is no such record. */
  | { kind: 'no_record' }
  /** The value is not a text, or the field does not come last. */
  | { kind: 'no_file' };

const INCOMPLETE: RecordHead = { kind: 'incomplete' };
const NO_FILE: RecordHead = { kind: 'no_file' };

/** `bytes`: the answer of the proxy so far, whose members are `jsonrpc`, `id`, and `result` or `error`. */
export function readRecordHead(bytes: Uint8Array, field: string): RecordHead {
  try {
    return readHead(bytes, field);
  } catch (error) {
    // A string is invalid: those of a long answer were not checked.
    if (error instanceof SyntaxError) return NO_FILE;
    throw error;
  }
}

function readHead(bytes: Uint8Array, field: string): RecordHead {
  const result = findResult(bytes);
  if (typeof result !== 'number') return result;
  let at = skip(bytes, result);
  if (at >= bytes.length) return INCOMPLETE;
  if (bytes[at] !== OPEN_ARRAY) return NO_FILE;
  at = skip(bytes, at + 1);
  if (at >= bytes.length) return INCOMPLETE;
  if (bytes[at] !== OPEN_OBJECT) return { kind: 'no_record' };
  const texts = new Map<string, string>();
  const value = findMember(bytes, at + 1, field, texts);
  if (typeof value !== 'number') return value;
  if (bytes[value] !== OPEN_OBJECT) return readFile(bytes, value, texts);
  const content = findMember(bytes, value + 1, CONTENT, texts);
  return typeof content === 'number' ? readFile(bytes, content, texts) : content;
}

/** Returns the index of a member's value. Adds the texts and numbers before it to `texts`. */
function findMember(
  bytes: Uint8Array,
  start: number,
  wanted: string,
  texts: Map<string, string>,
): number | RecordHead {
  for (let at = skip(bytes, start); ; ) {
    const member = readName(bytes, at);
    if (member === null) return at < bytes.length && bytes[at] !== QUOTE ? NO_FILE : INCOMPLETE;
    const { name, value } = member;
    if (value >= bytes.length) return INCOMPLETE;
    if (name === wanted) return value;
    const end = skipValue(bytes, value);
    // A value is known to be complete only if a byte follows it.
    if (end >= bytes.length) return INCOMPLETE;
    const kind = readKind(bytes, value);
    if (kind === 'string') texts.set(name, decodeString(bytes, { start: value, end }));
    else if (kind === 'number') texts.set(name, Buffer.from(bytes.subarray(value, end)).toString());
    const next = skip(bytes, end);
    if (next >= bytes.length) return INCOMPLETE;
    if (bytes[next] !== COMMA) return NO_FILE;
    at = skip(bytes, next + 1);
  }
}

function readFile(bytes: Uint8Array, start: number, texts: ReadonlyMap<string, string>): RecordHead {
  switch (readKind(bytes, start)) {
    case 'string':
      return { kind: 'file', start: start + 1, texts };
    case 'false':
    case 'null':
      return { kind: 'empty', texts };
    default:
      return NO_FILE;
  }
}

/** Returns the index of the value of `result`. */
function findResult(bytes: Uint8Array): number | RecordHead {
  for (let at = skip(bytes, skip(bytes, 0) + 1); ; ) {
    const member = readName(bytes, at);
    if (member === null) return at < bytes.length && bytes[at] !== QUOTE ? NO_FILE : INCOMPLETE;
    if (member.name === 'result') return member.value;
    if (member.name === 'error') return { kind: 'error' };
    const end = skipValue(bytes, member.value);
    if (end >= bytes.length) return INCOMPLETE;
    at = skip(bytes, skip(bytes, end) + 1);
  }
}

/** The name at this index, and the index of its value. Null if the name is missing or incomplete. */
function readName(bytes: Uint8Array, at: number): { name: string; value: number } | null {
  if (at >= bytes.length || bytes[at] !== QUOTE) return null;
  const end = skipString(bytes, at);
  const colon = skip(bytes, end);
  if (colon >= bytes.length || bytes[colon] !== COLON) return null;
  return { name: decodeString(bytes, { start: at, end }), value: skip(bytes, colon + 1) };
}

function skip(bytes: Uint8Array, at: number): number {
  return skipWhiteSpace(bytes, at, bytes.length);
}
