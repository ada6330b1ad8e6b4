/** Reads which fields a read names: by `fields`, or together with fields of related records by `specification`. */
import { decodeString, findValue, type JsonSpan, readElements, readMembers } from '@erp-proxy/json';
import { type Arguments, findArgument } from '../arguments.ts';

export interface NamedFields {
  names: readonly string[];
  /** By field: the named fields of its records. */
  nested: ReadonlyMap<string, NamedFields>;
}

const NAMES_MAX = 1000;
const DEPTH_MAX = 8;
const NONE: NamedFields = { names: [], nested: new Map() };

/** The first argument of each method is the ids or the domain, the second one names fields. */
export function readNamedFields(call: Arguments): NamedFields {
  const [value] = [...findArgument(call, 1, 'specification'), ...findArgument(call, null, 'fields')];
  if (value?.kind === 'object') return readSpecification(call.bytes, value, 1);
  return value?.kind === 'array' ? { ...NONE, names: readList(call.bytes, value) } : NONE;
}

function readList(bytes: Uint8Array, list: JsonSpan): string[] {
  const names: string[] = [];
  readElements(bytes, list, (element) => {
    if (element.kind === 'string') names.push(decodeString(bytes, element));
    return names.length < NAMES_MAX;
  });
  return names;
}

function readSpecification(bytes: Uint8Array, object: JsonSpan, depth: number): NamedFields {
  const members = readMembers(bytes, object, NAMES_MAX);
  const nested = new Map<string, NamedFields>();
  for (const { name, value } of members) {
    const fields =
      value.kind === 'object' ? findValue(readMembers(bytes, value, NAMES_MAX), 'fields') : undefined;
    if (fields?.kind === 'object' && depth < DEPTH_MAX)
      nested.set(name, readSpecification(bytes, fields, depth + 1));
  }
  return { names: members.map(({ name }) => name), nested };
}
