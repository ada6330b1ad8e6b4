/** The types of a model's fields, as `fields_get` describes them. */
import { readDocument } from '../../json/document.ts';
import { findValue, readMembers } from '../../json/members.ts';
import type { JsonSpan } from '../../json/span.ts';
import { decodeString } from '../../json/string.ts';
import { JsonSyntaxError } from '../../json/syntax-error.ts';

export interface FieldType {
  /** Odoo's name of the type, such as `many2one`. */
  readonly type: string;
  /** The model of the related records; null for a field without. */
  readonly relation: string | null;
}

/** By name of the field. A map, because a field can be named like a member of every object. */
export type FieldTypes = ReadonlyMap<string, FieldType>;

/** The named arguments of the call of `fields_get` whose result {@link readFieldTypes} reads. */
export const FIELD_ATTRIBUTES = '{"attributes": ["type", "relation"]}';

/** Null if the result does not describe fields. A field without a type is left out. */
export function readFieldTypes(result: Uint8Array): FieldTypes | null {
  try {
    const { root } = readDocument(result);
    if (root.kind !== 'object') return null;
    const types = new Map<string, FieldType>();
    for (const { name, value } of readMembers(result, root)) {
      if (value.kind !== 'object') continue;
      const attributes = readMembers(result, value);
      const type = readName(result, findValue(attributes, 'type'));
      if (type === null) continue;
      types.set(name, { type, relation: readName(result, findValue(attributes, 'relation')) });
    }
    return types;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

function readName(bytes: Uint8Array, value: JsonSpan | undefined): string | null {
  return value?.kind === 'string' ? decodeString(bytes, value) : null;
}
