/** Finds the members of a context through which a call changes records of sensitive models. Independent of policies. */
import {
  type JsonKind,
  type JsonSpan,
  readKind,
  readMembers,
  skipString,
  skipValue,
  someMember,
} from '@erp-proxy/json';
import { isWriteMethod } from '../methods.ts';
import { SENSITIVE_CONTEXT, type SensitiveContextMember } from '../sensitive/sensitive-members.ts';

/** The members of the context that change sensitive models, in the order of the table. */
export function listContextWrites(
  bytes: Uint8Array,
  context: JsonSpan,
  method: string,
): SensitiveContextMember[] {
  return SENSITIVE_CONTEXT.filter(
    ({ name, methods = '', isOfOthers }) =>
      method.startsWith(methods) &&
      !(isOfOthers && isOfOrm(method)) &&
      someMember(bytes, context, [name], (at) => isSet(bytes, at)),
  );
}

function isOfOrm(method: string): boolean {
  return isWriteMethod(method) || method === 'default_get' || method === 'onchange';
}

/** Maximum number of fields that are searched; imports name far fewer. */
const FIELDS_MAX = 1000;

/** Null, false, an empty text, and an object whose members are all empty count as omitted. */
function isSet(bytes: Uint8Array, start: number): boolean {
  const kind = readKind(bytes, start);
  if (kind === 'string') return skipString(bytes, start) - start > 2;
  if (kind !== 'object') return !isFalse(kind);
  const object: JsonSpan = { kind, start, end: skipValue(bytes, start) };
  const fields = readMembers(bytes, object, FIELDS_MAX);
  return fields.length === FIELDS_MAX || fields.some(({ value }) => !isFalse(value.kind));
}

function isFalse(kind: JsonKind): boolean {
  return kind === 'null' || kind === 'false';
}
