/**
 * A call of a method that nobody knows the signature of: it can go over `/json/2` only where the caller gave every argument
 * by name, and said with `ids` which records it is about. Values keep their bytes.
 */
import { joinParts, removeMembers } from '../json/edit.ts';
import { isEmptyArray } from '../json/empty-array.ts';
import { readMembers } from '../json/members.ts';
import type { JsonSpan } from '../json/span.ts';

/** `params` is a JSON array and `keyword` a JSON object, nothing around them. */
export function readNamedCall(
  params: Uint8Array,
  keyword: Uint8Array,
): { body: Uint8Array } | { unmappable: string } {
  if (!isEmptyArray(params, { kind: 'array', start: 0, end: params.length }))
    return { unmappable: 'its documentation on the server has no such method, or may not be read' };
  const object: JsonSpan = { kind: 'object', start: 0, end: keyword.length };
  const members = readMembers(keyword, object);
  const ids = members.find(({ name }) => name === 'ids');
  // Without ids a method of records would do nothing and say so to nobody (FACTS 6.2).
  if (ids === undefined) return { unmappable: '`ids` is missing' };
  if (!['null', 'array', 'number'].includes(ids.value.kind))
    return { unmappable: '`ids` must be an id, a list of ids, or null' };
  const context = members.find(({ name }) => name === 'context')?.value;
  if (context !== undefined && !CONTEXTS.has(context.kind) && !isEmptyArray(keyword, context))
    return { unmappable: '`keyword.context` must be an object' };
  // /jsonrpc takes what is false in Python for no context, and PHP prints `[]` for one that is empty.
  const isLeftOut = ({ name, value }: (typeof members)[number]) =>
    (name === 'ids' && value.kind === 'null') || (name === 'context' && value.kind !== 'object');
  const leftOut = new Set(members.filter(isLeftOut).map(({ name }) => name));
  return { body: leftOut.size === 0 ? keyword : joinParts(keyword, removeMembers(object, members, leftOut)) };
}

const CONTEXTS: ReadonlySet<string> = new Set(['object', 'null', 'false']);
