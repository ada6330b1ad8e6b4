/** Parses a complete answer of `/jsonrpc`, whatever the order and spacing of its envelope. Does not judge a fault. */
import { readDocument } from '../../json/document.ts';
import { readMembers } from '../../json/members.ts';
import type { JsonMember, JsonSpan } from '../../json/span.ts';
import { JsonSyntaxError } from '../../json/syntax-error.ts';
import { parseFault } from '../../odoo/faults/read-fault.ts';

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
  try {
    const { root, members: found } = readDocument(bytes);
    if (root.kind !== 'object') return bad("The answer is JSON, but not Odoo's.", 'not an object');
    members = found ?? readMembers(bytes, root);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return bad('The answer is not JSON.', error.message);
  }
  const find = (name: string) => members.findLast((member) => member.name === name)?.value;
  const error = find('error');
  const value = find('result');
  if (error !== undefined && error.kind !== 'null') return { kind: 'fault', fault: parseFault(bytes, error) };
  if (value !== undefined) return { kind: 'result', value };
  // The answer to a method that returns None has neither member (docs/odoo-facts.md#none-result).
  return find('jsonrpc') === undefined
    ? bad("The answer is JSON, but not Odoo's.", 'no envelope')
    : { kind: 'empty' };
}

/** The position of the only value of a document; null if the bytes are not JSON. `error` says why. */
export function parseValue(bytes: Uint8Array): { value: JsonSpan } | { error: string } {
  try {
    return { value: readDocument(bytes).root };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { error: error.message };
  }
}

function bad(what: string, detail: string): ParsedAnswer {
  return { kind: 'bad', what, detail };
}
