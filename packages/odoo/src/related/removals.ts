/**
 * Finds out whether values remove records: by commands that delete records of any field, or that delete or cut off
 * records of a one2many field, also among the values of other commands. Odoo deletes a record that is cut off if the
 * record needs an owner. Values that replace the definitions of properties count too: Odoo then deletes a property with
 * its values in all records. The caller passes the types of fields, and gets the fields whose types are missing.
 * Independent of policies.
 */
import { type ByteRange, decodeName, skipWhiteSpace } from '@erp-proxy/json';
import { COMMANDS, type CommandVisitor, INSIDE, someCommand } from './x2many-commands.ts';

export interface LearntFields {
  /** By model: the fields that the server described. */
  types: ReadonlyMap<
    string,
    ReadonlyMap<string, { readonly type: string; readonly relation: string | null }>
  >;
  /** By model: fields for which the server was asked. It may not have described all of them. */
  asked: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Fields whose types must be found first, by model. */
export type LackingFields = ReadonlyMap<string, ReadonlySet<string>>;

/** `range` has the values of records of `model`, at any depth of lists. `default_*` of a context are values too. */
export function findRemoval(
  bytes: Uint8Array,
  range: ByteRange,
  { model, learnt }: { model: string | null; learnt: LearntFields },
): boolean | LackingFields {
  const search = new Search(bytes, model, learnt);
  const isFound = someCommand(bytes, range, search);
  if (isFound || search.replacesDefinitions) return true;
  return search.lacking.size === 0 ? false : search.lacking;
}

/** A field with its commands. */
interface ListField {
  /** The type of the field; null: not known. */
  type: string | null;
  relation: string | null;
}

const DELETE = COMMANDS.indexOf('delete');
const REMOVALS = (['delete', 'unlink', 'clear', 'set'] as const).map((name) => COMMANDS.indexOf(name));
const DEFAULT = 'default_';
/** The type of a field that has the definitions of properties for the records of a parent. */
const DEFINITIONS = 'properties_definition';
/** Members among the values of a property with which the list of properties replaces the definitions. */
const CHANGED_DEFINITIONS: ReadonlySet<string> = new Set(['definition_changed', 'definition_deleted']);
/** The first bytes of null and false. */
const EMPTY = [0x6e, 0x66];
/** `[` and `{`. */
const OPENING = [0x5b, 0x7b];

class Search implements CommandVisitor<ListField> {
  readonly lacking = new Map<string, Set<string>>();
  replacesDefinitions = false;
  readonly #bytes: Uint8Array;
  readonly #model: string | null;
  readonly #learnt: LearntFields;

  constructor(bytes: Uint8Array, model: string | null, learnt: LearntFields) {
    this.#bytes = bytes;
    this.#model = model;
    this.#learnt = learnt;
  }

  findField(name: ByteRange, depth: number, within: ListField | null, value: number): ListField | null {
    const text = decodeName(this.#bytes, name);
    if (CHANGED_DEFINITIONS.has(text) && !EMPTY.includes(this.#bytes[value]!))
      this.replacesDefinitions = true;
    // Deeper members are those of a value that is no list of records, such as the properties of a record.
    if (within === null && (depth > 1 || depth === INSIDE)) return null;
    if (within === null && this.#model === null && !text.startsWith(DEFAULT)) return null;
    const model = within === null ? this.#model : within.relation;
    const types = model === null ? undefined : this.#learnt.types.get(model);
    const field = types?.get(text);
    if (field?.type === DEFINITIONS) this.replacesDefinitions = true;
    if (field !== undefined) return field.type.endsWith('2many') ? field : null;
    if (model !== null && this.#learnt.asked.get(model)?.has(text) !== true) {
      this.lacking.set(model, (this.lacking.get(model) ?? new Set()).add(text));
      return null;
    }
    // An empty value says nothing about the type, and a scalar is no list.
    return OPENING.includes(this.#bytes[this.#findValue(name)]!) ? UNKNOWN : null;
  }

  visit({ type }: ListField, command: number | null): boolean {
    if (type === 'many2many') return command === DELETE;
    // A later version may have further commands.
    return command === null || REMOVALS.includes(command);
  }

  #findValue(name: ByteRange): number {
    const { length } = this.#bytes;
    const colon = skipWhiteSpace(this.#bytes, name.end, length);
    return skipWhiteSpace(this.#bytes, colon + 1, length);
  }
}

const UNKNOWN: ListField = { type: null, relation: null };
