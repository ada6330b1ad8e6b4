/** The types of a model's fields, as `fields_get` describes them. */
import {
  decodeString,
  findValue,
  type JsonMember,
  type JsonSpan,
  JsonSyntaxError,
  readDocument,
  readElements,
  readMembers,
} from '@erp-proxy/json';

export interface FieldType {
  /** Odoo's name of the type, such as `many2one`. */
  readonly type: string;
  /** The model of the related records; null for a field that leads to no records. */
  readonly relation: string | null;
  /** The path of the field whose value this field has; null for a field with a value of its own. */
  readonly related: readonly string[] | null;
  /** The field of the related records that refers to this one, for a one2many field; else null. */
  readonly inverse: string | null;
  /**
   * The paths of the fields from which Odoo computes the value (docs/odoo-facts.md#computed-fields). Empty for other
   * fields, and for values that depend on no field.
   */
  readonly computedFrom: readonly (readonly string[])[];
  /** The value is stored, and may have been set by other means since it was computed. */
  readonly isStored?: true;
  /** True: the server says that no search can use the field. Absent: the server allows it, or says nothing. */
  readonly isUnsearchable?: true;
  readonly isUnsortable?: true;
  readonly isUngroupable?: true;
}

/** By name of the field. A map, because a field can be named like a member of every object. */
export type FieldTypes = ReadonlyMap<string, FieldType>;

/** The known fields of models. */
export interface LearntTypes {
  /** By model: the fields that the server described. */
  types: ReadonlyMap<string, FieldTypes>;
  /** By model: fields for which the server was asked. It may not have described all of them. */
  asked: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The named arguments of the call of `fields_get` whose result {@link readFieldTypes} reads. */
export const FIELD_ATTRIBUTES =
  '{"attributes": ["type", "relation", "related", "relation_field", "depends", "store", "searchable", "sortable", "groupable"]}';

/**
 * Maximum number of names in all paths of a model. Models of Odoo have some thousands. The paths of 10,000 names are
 * followed at once, which takes some milliseconds.
 */
const NAMES_MAX = 10_000;

/**
 * Null if the result does not describe fields, or describes too many dependencies. A field without a type is left out.
 */
export function readFieldTypes(result: Uint8Array): FieldTypes | null {
  try {
    const { root } = readDocument(result);
    if (root.kind !== 'object') return null;
    const types = new Map<string, FieldType>();
    let names = 0;
    for (const { name, value } of readMembers(result, root)) {
      if (value.kind !== 'object') continue;
      const attributes = readMembers(result, value);
      const type = readName(result, findValue(attributes, 'type'));
      if (type === null) continue;
      const computedFrom = readPaths(result, attributes);
      names += countIn(computedFrom);
      if (names > NAMES_MAX) return null;
      types.set(name, {
        type,
        relation: readName(result, findValue(attributes, 'relation')),
        related: readPath(result, findValue(attributes, 'related')),
        inverse: readName(result, findValue(attributes, 'relation_field')),
        computedFrom,
        ...(computedFrom.length > 0 && !isComputedAtReading(name, attributes) && STORED),
        ...(isFalse(attributes, 'searchable') && UNSEARCHABLE),
        ...(isFalse(attributes, 'sortable') && UNSORTABLE),
        ...(isFalse(attributes, 'groupable') && UNGROUPABLE),
      });
    }
    return types;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

/** The number of fields, and of names in the paths on which they depend. Each name takes some 100 bytes at most. */
export function countNames(types: FieldTypes): number {
  let count = types.size;
  for (const { computedFrom } of types.values()) count += countIn(computedFrom);
  return count;
}

function countIn(paths: FieldType['computedFrom']): number {
  let count = 0;
  for (const path of paths) count += path.length;
  return count;
}

function readPaths(result: Uint8Array, attributes: readonly JsonMember[]): FieldType['computedFrom'] {
  return readTexts(result, findValue(attributes, 'depends')).map((path) => path.split('.'));
}

function readName(bytes: Uint8Array, value: JsonSpan | undefined): string | null {
  return value?.kind === 'string' ? decodeString(bytes, value) : null;
}

/**
 * Whether Odoo computes the field when it is read: a write to it writes the fields on which it depends. A display name
 * counts in any case, although some models store it.
 */
function isComputedAtReading(name: string, attributes: readonly JsonMember[]): boolean {
  return name === 'display_name' || isFalse(attributes, 'store');
}

function isFalse(attributes: readonly JsonMember[], name: string): boolean {
  return findValue(attributes, name)?.kind === 'false';
}

/** Reads a text with dots, or the list of its parts in 14 and 15 (docs/odoo-facts.md#related-fields). */
function readPath(bytes: Uint8Array, value: JsonSpan | undefined): readonly string[] | null {
  if (value?.kind === 'string') return decodeString(bytes, value).split('.');
  const parts = readTexts(bytes, value);
  return parts.length === 0 ? null : parts;
}

/** The texts of a list; empty for any other value. */
function readTexts(bytes: Uint8Array, value: JsonSpan | undefined): readonly string[] {
  if (value?.kind !== 'array') return NONE;
  const texts: string[] = [];
  readElements(bytes, value, (element) => {
    if (element.kind === 'string') texts.push(decodeString(bytes, element));
    return true;
  });
  return texts;
}

const NONE: readonly never[] = [];
const STORED = { isStored: true } as const;
const UNSEARCHABLE = { isUnsearchable: true } as const;
const UNSORTABLE = { isUnsortable: true } as const;
const UNGROUPABLE = { isUngroupable: true } as const;
