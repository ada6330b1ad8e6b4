/**
 * Converts a call of a method with unknown signature. It can use `/json/2` only if it is certain which argument is the
 * records, and all others have names. Values keep their bytes.
 */
import {
  isEmptyArray,
  type JsonMember,
  type JsonSpan,
  joinParts,
  readElements,
  readInteger,
  readMembers,
  removeMembers,
} from '@erp-proxy/json';

export interface NamedCall {
  /** A JSON array without surrounding white space: the positional arguments. */
  params: Uint8Array;
  /** A JSON object without surrounding white space: the named arguments. */
  keyword: Uint8Array;
  /**
   * `given`: the caller stated that the first of `params` is the records. `none`: the caller stated that there are
   * none. `unsaid`: neither.
   */
  records: 'given' | 'none' | 'unsaid';
}

export type NamedBody =
  | {
      body: Uint8Array;
      /**
       * True if a list of ids is assumed to be the records. If the method takes none, the server refuses the call
       * without running it.
       */
      isIdsGuess: boolean;
    }
  | { unmappable: string };

export function readNamedCall({ params, keyword, records }: NamedCall): NamedBody {
  const object: JsonSpan = { kind: 'object', start: 0, end: keyword.length };
  const members = readMembers(keyword, object);
  const context = members.find(({ name }) => name === 'context')?.value;
  if (context !== undefined && !CONTEXTS.has(context.kind) && !isEmptyArray(keyword, context))
    return { unmappable: '`keyword.context` must be an object' };
  // /jsonrpc ignores a context that is false in Python, and PHP prints `[]` for an empty one.
  const leftOut = new Set(context === undefined || context.kind === 'object' ? [] : ['context']);
  const rest = joinParts(keyword, removeMembers(object, members, leftOut));
  if (records === 'none' && isEmptyArray(params, wholeOf(params))) return { body: rest, isIdsGuess: false };
  const ids = findIds(params, records);
  if ('unmappable' in ids) return ids;
  if (members.some(({ name }) => name === 'ids')) return { unmappable: '`ids` appears twice' };
  const body = addIds(rest, members, leftOut, params.subarray(ids.start, ids.end));
  return { body, isIdsGuess: records === 'unsaid' };
}

const CONTEXTS: ReadonlySet<string> = new Set(['object', 'null', 'false']);
const NO_RECORD = '`ids` is empty, which the server takes for none and runs the method on the model';
const UNKNOWN = 'its documentation on the server has no such method, or may not be read';

/**
 * The only positional argument, if it is a list of ids. If a method takes no ids, `/json/2` refuses them before it
 * binds or runs anything (docs/odoo-facts.md#json2-status: "cannot call … with ids"). It ignores an empty list,
 * however, so the method would run without arguments.
 */
function findIds(params: Uint8Array, records: NamedCall['records']): JsonSpan | { unmappable: string } {
  const elements: JsonSpan[] = [];
  readElements(params, wholeOf(params), (element) => {
    elements.push(element);
    return elements.length < 2;
  });
  const [ids] = elements;
  // Without ids, a method of records would silently do nothing (docs/odoo-facts.md#json2-arguments).
  if (ids === undefined) return { unmappable: '`ids` is missing' };
  if (elements.length > 1 || records === 'none') return { unmappable: UNKNOWN };
  if (records === 'given' && isNone(params, ids)) return { unmappable: NO_RECORD };
  return records === 'given' || areIds(params, ids) ? ids : { unmappable: UNKNOWN };
}

/** An empty list, or the number zero. */
function isNone(bytes: Uint8Array, ids: JsonSpan): boolean {
  if (isEmptyArray(bytes, ids)) return true;
  return ids.kind === 'number' && Number(decodeNumber(bytes, ids)) === 0;
}

function decodeNumber(bytes: Uint8Array, { start, end }: JsonSpan): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

function areIds(bytes: Uint8Array, value: JsonSpan): boolean {
  if (value.kind === 'number') return isId(bytes, value);
  if (value.kind !== 'array') return false;
  let count = 0;
  let areAll = true;
  readElements(bytes, value, (element) => {
    count++;
    areAll = element.kind === 'number' && isId(bytes, element);
    return areAll;
  });
  return areAll && count > 0;
}

function isId(bytes: Uint8Array, value: JsonSpan): boolean {
  const id = readInteger(bytes, value);
  return id !== null && id > 0;
}

function addIds(
  rest: Uint8Array,
  members: readonly JsonMember[],
  leftOut: ReadonlySet<string>,
  ids: Uint8Array,
): Uint8Array {
  const separator = members.some(({ name }) => !leftOut.has(name)) ? ',' : '';
  return Buffer.concat([Buffer.from('{"ids":'), ids, Buffer.from(separator), rest.subarray(1)]);
}

function wholeOf(bytes: Uint8Array): JsonSpan {
  return { kind: 'array', start: 0, end: bytes.length };
}
