/**
 * Decides whether the fields that a call names lead only to records of models that the policy allows to read. The types
 * of fields determine where they lead. Pure: the caller asks the server for types that are not known yet.
 *
 * A field of the call's own model that leads to records shows their ids, and a many2one field their display names. So
 * such fields stay allowed.
 */
import {
  type FieldUse,
  findParentField,
  isSameAsName,
  listCompared,
  listNameFields,
  listSearchedElsewhere,
  listSearchedFields,
  NAME_SEARCH,
  PARENTS,
} from '@erp-proxy/odoo/fields';
import type { FieldType, FieldTypes } from '@erp-proxy/odoo/values';
import type { LackingTypes } from './check-fields.ts';
import type { CompiledPolicy } from './compile.ts';
import { READING_METHODS } from './readable-models.ts';

export interface DeniedPath {
  /** The model that may not be read; null: it cannot be determined. */
  model: string | null;
  /** The path by which the call leads to the model. */
  path: readonly string[];
  /** What the call would use of the model's records. */
  used: 'fields' | 'names' | 'search' | 'parents' | 'credential';
  /** With `model` null: the field on the path that the server does not describe. Usually it is misspelt. */
  unknown?: UnknownField | null;
}

export interface UnknownField {
  model: string;
  field: string;
}

/** The place to which a path has led so far. */
interface Place {
  /** Null: the model cannot be determined. */
  model: string | null;
  /** The type of the field that led to the model; null: it is the call's own model. */
  via: string | null;
  /** The field that led here, if the server does not describe it. */
  unknown?: UnknownField | null;
}

const ID = 'id';
const DISPLAY_NAME = 'display_name';
/**
 * Fields that lead to no records in any model of Community 14 to 19, except the EXCEPTIONS. Nearly all conditions with
 * a text are on one of these fields, so that their types are not needed.
 */
const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  'active',
  'barcode',
  'code',
  'complete_name',
  'create_date',
  'date',
  'default_code',
  'email',
  'id',
  'lang',
  'login',
  'move_type',
  'name',
  'phone',
  'priority',
  'sequence',
  'state',
  'type',
  'vat',
  'write_date',
]);
const DATES: ReadonlySet<string> = new Set(['date', 'datetime']);
/** Stands for the type of a field that the server does not describe to this user. */
const UNDESCRIBED = '';
const EXCEPTIONS: ReadonlySet<string> = new Set(['product.supplierinfo name', 'res.bank state']);

/** What a policy says about paths. */
export type PathRules = Pick<CompiledPolicy, 'mayReadByPath' | 'mayFollow' | 'hiddenOf'>;

export class PathCheck {
  /** Types that are needed. Grows while uses are checked. */
  readonly lacking: LackingTypes = new Map();
  readonly #mayRead: (model: string) => boolean;
  readonly #hiddenOf: CompiledPolicy['hiddenOf'];
  readonly #types: ReadonlyMap<string, FieldTypes>;

  readonly #isOpen: boolean;

  /** If the records of all other models may be read, only paths to fields of records are checked. */
  constructor({ mayFollow, mayReadByPath, hiddenOf }: PathRules, types: ReadonlyMap<string, FieldTypes>) {
    this.#mayRead = mayFollow;
    this.#hiddenOf = hiddenOf;
    this.#types = types;
    this.#isOpen = mayReadByPath === null;
  }

  /** Null: the use is allowed, as far as the types are known. */
  check(own: string, use: FieldUse): DeniedPath | null {
    if (!this.#isOpen) return this.#check(own, use);
    // Names of records, and searches by them, are allowed. The last name of a path leads no further.
    const isPath = use.path.filter((name) => name !== ID).length > 1;
    if (!isPath && this.#hiddenOf(own).size === 0) return null;
    const denied = this.#check(own, { ...use, tail: null });
    return denied?.used === 'fields' || denied?.used === 'credential' ? denied : null;
  }

  #check(own: string, { path, tail, model, isWritten }: FieldUse): DeniedPath | null {
    // Defaults in the context name fields of any model. Other rules check writes to related records.
    if (model === null || (isWritten === true && tail === null)) return null;
    let at: Place = { model: model ?? own, via: null };
    for (const [index, name] of path.entries()) {
      const isLast = index === path.length - 1;
      // From 19 on, `id.email` in a domain is `email` of the record itself.
      if (name === ID && !isLast) continue;
      const isHidden = at.model !== null && isWritten !== true && this.#hiddenOf(at.model).has(name);
      const used = isHidden ? 'credential' : this.#checkField(own, at, name, isWritten === true);
      if (used !== null) return { model: at.model, path, used, unknown: at.unknown ?? null };
      if (name === NAME_SEARCH) return this.#checkSearch(own, at.model, path);
      if (isLast && !leadsOn(at.model, name, tail)) return null;
      if (at.model === null) continue;
      const searched = isLast && tail === 'searched' ? this.#findSearched(own, at.model, name) : null;
      if (searched !== null) return { model: searched, path, used: 'search' };
      const field = name === PARENTS ? findParentField(at.model) : name;
      const type = this.#findType(at.model, field);
      if (type === 'lacking') return null;
      const next = findNext(type, isLast && tail !== 'parents');
      if (next === null) return null;
      const isUnknown = type === null && this.#types.get(at.model)!.size > 0;
      at = isUnknown ? { ...next, unknown: { model: at.model, field } } : next;
    }
    return this.#checkTail(own, at, path, tail);
  }

  /** What the field would show of a model that may not be read; null: the field is allowed. */
  #checkField(
    own: string,
    { model, via }: Place,
    name: string,
    isWritten: boolean,
  ): DeniedPath['used'] | null {
    if (via === null || isWritten || name === ID || this.#isReadable(own, model)) return null;
    // The name is the name of a property. Odoo follows no path after a property.
    if (this.#isOpen && via.startsWith('properties')) return null;
    if (name === NAME_SEARCH) return comparesNamesOnly(model) ? null : 'search';
    if (name === DISPLAY_NAME) return via === 'many2one' ? null : 'names';
    return name === PARENTS ? 'parents' : 'fields';
  }

  #checkTail(
    own: string,
    { model, via, unknown = null }: Place,
    path: DeniedPath['path'],
    tail: FieldUse['tail'],
  ): DeniedPath | null {
    if (tail === 'searched') {
      const isAllowed = this.#isReadable(own, model) || comparesNamesOnly(model);
      return isAllowed ? this.#checkSearch(own, model, path) : { model, path, used: 'search', unknown };
    }
    if (this.#isReadable(own, model)) return null;
    if (tail === 'parents') return { model, path, used: 'parents', unknown };
    return tail !== 'all' && via === 'many2one' ? null : { model, path, used: 'names', unknown };
  }

  /**
   * A search by name can compare fields of further models, while a many2one field shows only the names of their
   * records.
   */
  #checkSearch(own: string, model: string | null, path: DeniedPath['path']): DeniedPath | null {
    if (model === null) return null;
    const hidden = listSearchedElsewhere(model).find(
      ({ model: other, field }) => !this.#isReadable(own, other) && !isNameOnly(other, field),
    );
    return hidden === undefined ? null : { model: hidden.model, path, used: 'search' };
  }

  /** The model that may not be read and whose names a condition on the field compares; null: none. */
  #findSearched(own: string, model: string, name: string): string | null {
    const found = listCompared(model, name).find(
      (other) => other.field === NAME_SEARCH && !this.#isReadable(own, other.model),
    );
    return found === undefined || comparesNamesOnly(found.model) ? null : found.model;
  }

  #isReadable(own: string, model: string | null): boolean {
    return model !== null && (model === own || this.#mayRead(model));
  }

  /** Null: the server does not describe the field. */
  #findType(model: string, field: string): FieldType | null | 'lacking' {
    const types = this.#types.get(model);
    if (types !== undefined) return types.get(field) ?? null;
    const fields = this.lacking.get(model) ?? new Set();
    this.lacking.set(model, fields.add(field));
    return 'lacking';
  }
}

/** Whether the records of the last field are used in a way that a many2one field does not show. */
function leadsOn(model: string | null, field: string, tail: FieldUse['tail']): boolean {
  if (tail === null || tail === 'shown' || tail === 'sorted') return false;
  if (field === NAME_SEARCH || field === DISPLAY_NAME) return false;
  return !PLAIN_FIELDS.has(field) || EXCEPTIONS.has(`${model} ${field}`);
}

/** Whether a search by name reveals no more than the display name, which a many2one field shows. */
function comparesNamesOnly(model: string | null): boolean {
  if (model === null) return false;
  const { shown } = listNameFields(model);
  return (
    listSearchedFields(model)?.every(
      (field) => shown.includes(field) || field === DISPLAY_NAME || isSameAsName(model, field),
    ) === true
  );
}

function isNameOnly(model: string, field: string): boolean {
  return field === NAME_SEARCH ? comparesNamesOnly(model) : listNameFields(model).shown.includes(field);
}

/**
 * Where the field leads; null: to no records. `isEnd` false: a part of a date, or a field of records follows. Odoo
 * passes conditions on records on to the search of any field, which can lead to another model
 * (docs/odoo-facts.md#conditions-passed-on).
 */
function findNext(type: FieldType | null, isEnd: boolean): Place | null {
  if (type === null) return { model: null, via: UNDESCRIBED };
  const { type: via, relation } = type;
  if (relation !== null) return { model: relation, via };
  if (via === 'many2one_reference' && isEnd) return null;
  const isOther = via.endsWith('reference') || via.startsWith('properties');
  return isOther || !(isEnd || DATES.has(via)) ? { model: null, via } : null;
}

/** The message for the caller, which says what to do. */
export function describeDeniedPath({ model, path, used }: DeniedPath): string {
  const named = path.filter((name) => name !== NAME_SEARCH && name !== PARENTS).join('.');
  if (model === null) {
    return `To which model \`${named}\` leads cannot be told from the fields that the server describes. Check the names, or leave it out: this key may not read fields of all models.`;
  }
  const shown = named === '' ? 'A name' : `\`${named}\``;
  if (used === 'credential')
    return `${USES[used](shown, `\`${model}\``)}: a key may use it only where \`fields\` of its policy allows it, with the model and the field named without \`*\`. ${ADVICE[used]}, or ask the operator.`;
  return `${USES[used](shown, `\`${model}\``)}, which this key may not read. ${ADVICE[used]}, or ask the operator to allow \`${READING_METHODS[0]}\` of \`${model}\` in \`models\`.`;
}

const USES: Record<DeniedPath['used'], (path: string, model: string) => string> = {
  fields: (path, model) => `${path} reads a field of ${model}`,
  credential: (path, model) => `${path} reads a field of ${model} that holds a credential`,
  names: (path, model) => `${path} shows names of ${model}`,
  search: (path, model) => `${path} is compared with a text, which searches ${model} by name`,
  parents: (path, model) => `${path} follows the parents in ${model}`,
};
const ADVICE: Record<DeniedPath['used'], string> = {
  fields: 'Leave it out',
  credential: 'Leave it out',
  names: 'Read the ids only',
  search: 'Compare it with ids',
  parents: 'Name the ids',
};
