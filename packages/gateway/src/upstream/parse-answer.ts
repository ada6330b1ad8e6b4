/** Parses a complete answer of `/jsonrpc`, whatever the order and spacing of its envelope. Does not check a fault. */
import {
  type JsonDocument,
  type JsonMember,
  type JsonSpan,
  JsonSyntaxError,
  readDocument,
  readMembers,
} from '@erp-proxy/json';
import { parseFault } from '@erp-proxy/odoo/faults';
import { listNonNumbers, replaceNonNumbers } from '@erp-proxy/odoo/values';

export type ParsedAnswer =
  | { kind: 'result'; value: JsonSpan }
  /** The member `error`. */
  | { kind: 'fault'; fault: unknown }
  /** The method returned None. */
  | { kind: 'empty' }
  /** `detail` is for the log. */
  | { kind: 'bad'; what: string; detail: string };

export function parseAnswer(bytes: Uint8Array): ParsedAnswer {
  let members: JsonMember[];
  let text = bytes;
  try {
    const { document, bytes: read } = readPrinted(bytes);
    text = read;
    const { root, members: found } = document;
    if (root.kind !== 'object') return bad("The answer is JSON, but not Odoo's.", 'not an object');
    members = found ?? readMembers(text, root);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return bad('The answer is not JSON.', error.message);
  }
  const find = (name: string) => members.findLast((member) => member.name === name)?.value;
  const error = find('error');
  const value = find('result');
  if (error !== undefined && error.kind !== 'null') return { kind: 'fault', fault: parseFault(text, error) };
  if (value !== undefined) return { kind: 'result', value: placeIn(bytes, value, text) };
  // The answer to a method that returns None has neither member (docs/odoo-facts.md#none-result).
  return find('jsonrpc') === undefined
    ? bad("The answer is JSON, but not Odoo's.", 'no envelope')
    : { kind: 'empty' };
}

/** The position of the only value of a document; null if the bytes are not JSON. `error` says why. */
export function parseValue(bytes: Uint8Array): { value: JsonSpan } | { error: string } {
  try {
    const { document, bytes: text } = readPrinted(bytes);
    return { value: placeIn(bytes, document.root, text) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { error: error.message };
  }
}

/** What Python prints may have NaN or Infinity. It is read as if they were null; handle-non-numbers.ts finds them. */
function readPrinted(bytes: Uint8Array): { document: JsonDocument; bytes: Uint8Array } {
  try {
    return { document: readDocument(bytes), bytes };
  } catch (error) {
    const found = error instanceof JsonSyntaxError ? listNonNumbers(bytes) : [];
    if (found.length === 0) throw error;
    const replaced = replaceNonNumbers(bytes, found);
    return { document: readDocument(replaced), bytes: replaced };
  }
}

/** The place of a value of `read` in the bytes as they were printed. Nothing before it was replaced. */
function placeIn(bytes: Uint8Array, value: JsonSpan, read: Uint8Array): JsonSpan {
  return { ...value, end: value.end + bytes.length - read.length };
}

function bad(what: string, detail: string): ParsedAnswer {
  return { kind: 'bad', what, detail };
}
