/**
 * Decides whether the rules of a policy allow the fields that a call names. The types of fields determine which model a
 * path leads to, and which fields have the value of another field. Pure: the caller asks the server for types that are
 * not known yet. Until then, nothing that depends on them is denied.
 */
import {
  type ComputedField,
  type FieldUse,
  findComputedField,
  findModelOrder,
  findParentField,
  INHERITED_MODELS,
  listCompared,
  listNameFields,
  listShownAnywhere,
  listShownFields,
  type ModelOrders,
  NAME_SEARCH,
  PARENTS,
  showsAnyName,
  showsInName,
  type Tail,
} from '@erp-proxy/odoo/fields';
import type { FieldType, FieldTypes } from '@erp-proxy/odoo/values';
import { DependencyMarks, type Expansion } from './dependency-marks.ts';
import type { CompiledFieldRule, FieldRules } from './field-rules.ts';

/** What the server has described so far. */
export interface Known {
  /** The types of a model's fields, by model. A model that is missing is not known yet. */
  types: ReadonlyMap<string, FieldTypes>;
  /** Null: the server was not asked for the orders yet. */
  orders: ModelOrders | null;
}

export const NOTHING_KNOWN: Known = { types: new Map(), orders: null };

export interface DeniedField {
  rule: CompiledFieldRule;
  /** The model of the field; null: not known. */
  model: string | null;
  field: string;
  /** The path by which the call names the field. */
  path: readonly string[];
  /** How the order of records would show the field; null: the call uses its value. */
  order: ShownOrder | null;
}

/**
 * How the call uses the order of records: it sorts by the records of the path, groups by them, or lists them. `own`: it
 * lists records of its own model.
 */
export interface ShownOrder {
  kind: 'sorted' | 'grouped' | 'listed' | 'own';
  /** The model of the records. */
  model: string;
}

/**
 * The rule and field that deny an order. `unknown`: the model has a rule, but its order, or one that it leads to, is
 * not known.
 */
type CheckedOrder = Pick<DeniedField, 'rule' | 'model' | 'field'> | 'unknown' | null;

/** By model: fields whose types are needed. */
export type LackingTypes = Map<string, Set<string>>;

const ID = 'id';
const DISPLAY_NAME = 'display_name';
const COMPLETE_NAME = 'complete_name';
/** Types of fields that can contain the name of a record. */
const TEXTS: ReadonlySet<string> = new Set(['char', 'text', 'html']);
/** Fields of orders that lead to no records in any model, so that their types are not needed. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  'active',
  'code',
  COMPLETE_NAME,
  'create_date',
  'date',
  DISPLAY_NAME,
  'id',
  'name',
  'priority',
  'sequence',
  'write_date',
]);
const NONE: readonly never[] = [];
/** Ends the key of a field that is checked by the table of computed fields alone. */
const BY_TABLE = ' table';
/** Maximum number of steps from a field to another field that has its value. */
const DEPTH_MAX = 8;
/** Records of any model, so that every rule applies. */
const ANY_MODEL = null;

export class FieldCheck {
  /** Types that are needed. Grows while uses are checked. */
  readonly lacking: LackingTypes;
  /** Becomes true if orders are needed that are not known yet. */
  lacksOrders = false;
  readonly #rules: FieldRules;
  readonly #known: Known;
  readonly #checkedOrders = new Map<string, CheckedOrder>();
  /** By model: the rule whose `allow` leaves out a field that the display name shows; null: none. */
  readonly #checkedNames = new Map<string, CompiledFieldRule | null>();
  /** Computed fields that show a denied field, by model and name. */
  readonly #computed = new DependencyMarks<CompiledFieldRule>((key) => this.#expand(key));
  #denying: FieldCheck | null = null;

  constructor(rules: FieldRules, known: Known, lacking: LackingTypes = new Map()) {
    this.#rules = rules;
    this.#known = known;
    this.lacking = lacking;
  }

  /** Null: the use is allowed, as far as the types are known. */
  check(model: string, use: FieldUse): DeniedField | null {
    const { path, tail } = use;
    if (use.model === null) return this.#checkAnywhere(path);
    if (use.onlyDeny) {
      const { onlyDeny, ...same } = use;
      return this.#findDenyingCheck()?.check(model, same) ?? null;
    }
    let at: string | null = use.model ?? model;
    for (const [index, name] of path.entries()) {
      // From 19 on, `id.vat` in a domain is `vat` of the record itself.
      const isLast = index === path.length - 1;
      if (name === ID && !isLast) continue;
      const field = name === PARENTS ? findParentField(at) : name;
      const rule = this.#findDenying(at, field, 0);
      if (rule !== null) {
        return { rule, model: at, field, path: path.with(index, field), order: null };
      }
      const compared =
        isLast && at !== null && use.clause?.kind === 'domain' ? listCompared(at, field) : NONE;
      for (const other of compared) {
        const denying = this.#findDenying(other.model, other.field, 1);
        if (denying !== null) return { rule: denying, ...other, path, order: null };
      }
      const isReturned = use.isListed === true || use.isOrdered === true;
      if (isLast && tail === null && !isReturned) return null;
      if (at === null) continue;
      const type = this.#findType(at, field);
      if (type === 'lacking') return null;
      if (isLast && use.isListed === true && type?.type.endsWith('2many')) {
        const listed = this.#checkUnchangeable('listed', type.relation, path, type.inverse);
        if (listed !== null) return listed;
      }
      if (type?.type.startsWith('properties')) return this.#checkProperties(path, index, tail, isReturned);
      if (isLast && tail === 'shown' && type !== null && type.type !== 'many2one') return null;
      const next = findRelation(type);
      const isEnd = (isLast && tail !== 'parents') || type?.type.startsWith('date') === true;
      // A part of a date can follow a date. Conditions on records can lead to any model: Odoo passes them on to the
      // search of any field (docs/odoo-facts.md#conditions-passed-on).
      if (next === 'none' && isEnd) return null;
      at = next === 'none' ? ANY_MODEL : next;
    }
    if (tail === null) return null;
    if (tail === 'sorted' && at !== null) return this.#checkSorted(at, path);
    const field = tail === 'parents' ? findParentField(at) : TAIL_FIELDS[tail];
    const rule = this.#findDenying(at, field, 0);
    if (rule !== null) return { rule, model: at, field, path, order: null };
    return tail === 'grouped' ? this.#checkUnchangeable('grouped', at, path, null) : null;
  }

  /**
   * A property can lead to records of any model, and shows their names wherever it is returned. `index`: the place of
   * the field that has the property in the path. The next name is the name of the property.
   */
  #checkProperties(
    path: readonly string[],
    index: number,
    tail: Tail,
    isReturned: boolean,
  ): DeniedField | null {
    const fields = path.slice(index + 2);
    if (isReturned || tail === 'shown' || tail === 'named' || tail === 'grouped') fields.push(DISPLAY_NAME);
    for (const field of fields) {
      const rule = this.#findDenying(ANY_MODEL, field, 0);
      if (rule !== null) return { rule, model: ANY_MODEL, field, path, order: null };
    }
    return null;
  }

  /** Checks the order of the model's records. `unknown`: the order is not known, and the model has a rule. */
  checkOwnOrder(model: string): DeniedField | 'unknown' | null {
    const denied = this.#findDenyingOrder(model);
    if (denied === null || denied === 'unknown') return denied;
    return { ...denied, path: [], order: { kind: 'own', model } };
  }

  /** Checks the order of the model's records for a call that cannot choose another order. */
  checkFixedOrder(model: string): DeniedField | null {
    return this.#checkUnchangeable('own', model, [], null);
  }

  /**
   * Checks an order that the caller chose. The caller can choose another one, so an unknown order of a model with a
   * rule is denied.
   */
  #checkSorted(model: string, path: readonly string[]): DeniedField | null {
    const denied = this.#findDenyingOrder(model);
    const order: ShownOrder = { kind: 'sorted', model };
    if (denied === 'unknown') {
      const rule = this.#rules.listNaming(model)[0] ?? this.#rules.all[0];
      return rule === undefined ? null : { rule, model, field: '', path, order };
    }
    return denied && { ...denied, path, order };
  }

  /**
   * Checks an order that the caller cannot choose. To deny it is to deny the records. So it is allowed if it is not
   * known, and fields that `allow` leaves out, which are often fields for sorting by hand, are not denied.
   */
  #checkUnchangeable(
    kind: ShownOrder['kind'],
    model: string | null,
    path: readonly string[],
    inverse: string | null,
  ): DeniedField | null {
    const check = this.#findDenyingCheck();
    if (model === null || check === null) return null;
    const denied = check.#findDenyingOrder(model, inverse);
    this.lacksOrders ||= check.lacksOrders;
    return denied === null || denied === 'unknown' ? null : { ...denied, path, order: { kind, model } };
  }

  /** The check with only the rules with `deny`; null: there are no such rules. */
  #findDenyingCheck(): FieldCheck | null {
    const { denying } = this.#rules;
    if (denying.all.length === 0) return null;
    this.#denying ??= new FieldCheck(denying, this.#known, this.lacking);
    return this.#denying;
  }

  /** `constant`: a field that has the same value in all of the records, so that they are not sorted by it. */
  #findDenyingOrder(model: string, constant: string | null = null): CheckedOrder {
    if (this.#known.orders === null) {
      this.lacksOrders = true;
      return null;
    }
    if (constant !== null) return this.#checkOrder(this.#known.orders, model, constant, null);
    const checked = this.#checkedOrders.get(model);
    if (checked !== undefined) return checked;
    const order = this.#checkOrder(this.#known.orders, model, null, new Set([model]));
    this.#checkedOrders.set(model, order);
    return order;
  }

  /**
   * `followed`: the models whose orders are already checked or being checked, because an order can lead over many
   * models, and to one of them in many ways. Null: the orders of other models are checked as a whole.
   */
  #checkOrder(
    orders: ModelOrders,
    model: string,
    constant: string | null,
    followed: Set<string> | null,
  ): CheckedOrder {
    const order = findModelOrder(orders, model);
    if (order === null) return this.#rules.listNaming(model).length > 0 ? 'unknown' : null;
    let isUnknown = false;
    for (const [field = '', part] of order.paths) {
      if (field === constant || (order.isUsual && this.#isAbsent(model, field))) continue;
      const rule = this.#findDenyingSort(model, field);
      if (rule !== null) return { rule, model, field };
      // `partner_id.id` sorts by the ids of partners.
      if (part === 'id' || PLAIN_FIELDS.has(field)) continue;
      const type = this.#findType(model, field);
      if (type === 'lacking' || type === null) continue;
      const source = type.related === null ? null : this.#checkRelated(model, type.related, 0);
      if (source !== null) return { rule: source, model, field };
      const { relation } = type;
      if (type.type !== 'many2one' || relation === null) continue;
      if (followed?.has(relation)) continue;
      const denied =
        followed === null
          ? this.#findDenyingOrder(relation)
          : this.#checkOrder(orders, relation, null, followed.add(relation));
      if (denied === 'unknown') isUnknown = true;
      else if (denied !== null) return denied;
    }
    return isUnknown ? 'unknown' : null;
  }

  /**
   * Whether the model has no such field in this version. The server does not describe a model that the user may not
   * read.
   */
  #isAbsent(model: string, field: string): boolean {
    const types = this.#known.types.get(model);
    if (types !== undefined) return types.size > 0 && !types.has(field);
    return this.#rules.listNaming(model).length > 0 && this.#findType(model, field) === 'lacking';
  }

  /**
   * The rule that denies sorting by the field. A complete name sorts like the display name, so it is allowed if the
   * display name is.
   */
  #findDenyingSort(model: string, field: string): CompiledFieldRule | null {
    const rule = this.#findDenying(model, field, 1);
    const isName = rule !== null && 'allow' in rule.rule && field === COMPLETE_NAME;
    return isName ? this.#findDenying(model, DISPLAY_NAME, 1) : rule;
  }

  /** Checks a default in the context, which can be for any model. A field that `allow` leaves out is not denied. */
  #checkAnywhere(path: readonly string[]): DeniedField | null {
    const [field = ''] = path;
    const rule = [field, ...listShownFields(field)]
      .map((each) => this.#rules.findDenyingAnywhere(each))
      .find((found) => found !== null);
    return rule == null ? null : { rule, model: ANY_MODEL, field, path, order: null };
  }

  /**
   * `isSame`: the call has the value of the field. Otherwise the server is asked for its type only if that can change
   * the decision.
   */
  #findDenying(
    model: string | null,
    field: string,
    depth: number,
    isSame = depth === 0,
  ): CompiledFieldRule | null {
    const own = this.#rules.findDenying(model, field) ?? this.#findDenyingSource(model, field);
    if (own !== null || model === null) return own;
    // A search by name compares the fields that the display name shows.
    if (field === NAME_SEARCH) return this.#findDenying(model, DISPLAY_NAME, depth);
    const shown = this.#findDenyingByTable(model, field);
    if (shown !== null) return shown;
    if (!isSame && !this.#isWorthAsking(model, field)) return null;
    const type = this.#findType(model, field);
    if (type === 'lacking') return null;
    // The server does not describe the field to this user, but related fields still show its value.
    if (type === null) return depth === 0 ? null : this.#findDenying(ANY_MODEL, field, depth);
    if (type.related !== null)
      return this.#checkRelated(model, type.related, depth) ?? this.#checkInherited(model, type.related);
    const linked = this.#findDenyingInverse(model, field, type);
    if (linked !== null) return linked;
    const paths = listPaths(type, findComputedField(model, field));
    return paths.length === 0 ? null : this.#checkComputed(model, field, paths);
  }

  /**
   * A field in the table of computed fields is denied with the fields that it shows, unless a rule allows it by its
   * name.
   */
  #findDenyingByTable(model: string, field: string): CompiledFieldRule | null {
    if (findComputedField(model, field) === null) return null;
    const check = this.#rules.hasAllow ? this.#findDenyingCheck() : this;
    return check === null || this.#isAllowedByName(model, field)
      ? null
      : check.#computed.find(`${model} ${field}`);
  }

  /**
   * A one2many field lists the records that have this record in their many2one field, and so shows the values of that
   * field.
   */
  #findDenyingInverse(
    model: string,
    field: string,
    { relation, inverse }: FieldType,
  ): CompiledFieldRule | null {
    const check = this.#findDenyingCheck();
    if (relation === null || inverse === null || check === null) return null;
    return this.#isAllowedByName(model, field) ? null : check.#findDenying(relation, inverse, 1);
  }

  #isAllowedByName(model: string, field: string): boolean {
    return this.#rules.ofModel(model).some(({ rule, matches }) => 'allow' in rule && matches(field));
  }

  /**
   * A field that the server computes is denied with each field on which it depends, unless `allow` names it. A display
   * name is allowed with `name`, but can then show fields that `allow` leaves out.
   */
  #checkComputed(model: string, field: string, paths: FieldType['computedFrom']): CompiledFieldRule | null {
    if (field === DISPLAY_NAME && this.#rules.hasAllow) {
      const rule = this.#checkNameByAllow(model, paths);
      if (rule !== null) return rule;
    }
    const check = this.#rules.hasAllow ? this.#findDenyingCheck() : this;
    return check === null ? null : check.#computed.find(`${model} ${field}`);
  }

  /** Checks each model once: a call can name the records of one model by many fields. */
  #checkNameByAllow(model: string, paths: FieldType['computedFrom']): CompiledFieldRule | null {
    const checked = this.#checkedNames.get(model);
    if (checked !== undefined) return checked;
    const isAllowed = this.#rules
      .listNaming(model)
      .some(({ rule, matches }) => 'allow' in rule && matches(DISPLAY_NAME));
    const rule = isAllowed ? null : this.#findDenyingShown(model, paths);
    this.#checkedNames.set(model, rule);
    return rule;
  }

  #findDenyingShown(model: string, paths: FieldType['computedFrom']): CompiledFieldRule | null {
    for (const { at, field } of this.#listSources(model, DISPLAY_NAME, paths, true)) {
      // Other names of the record show the same as its display name.
      const { shown, similar } = listNameFields(at);
      const isName = shown.includes(field) || similar.includes(field);
      if (isName && at === model) continue;
      const rule = this.#rules.findDenying(at, isName ? DISPLAY_NAME : field);
      if (rule !== null) return rule;
    }
    return null;
  }

  /**
   * The fields whose value a field has, or from which the server computes it. Used with `deny` alone. `key`: model and
   * field, and {@link BY_TABLE} if the server must not be asked.
   */
  #expand(key: string): Expansion<CompiledFieldRule> {
    const [model = '', field = '', table] = key.split(' ');
    const own = this.#rules.findDenying(model, field) ?? this.#findDenyingSource(model, field);
    if (own !== null) return { mark: own, sources: [] };
    const known = findComputedField(model, field);
    const sources: string[] = [];
    for (const source of known?.sources ?? []) {
      // Many models of the table are in modules that the server does not have, so the server is not asked for them.
      const isDescribed = this.#known.types.has(source.model);
      sources.push(`${source.model} ${source.field}${isDescribed ? '' : BY_TABLE}`);
    }
    for (const writer of known?.writers ?? []) {
      const mark = this.#rules.findDenying(model, writer);
      if (mark !== null) return { mark, sources };
    }
    if (table !== undefined || !this.#isWorthAsking(model, field)) return { mark: null, sources };
    const type = this.#findType(model, field);
    if (type === 'lacking') return { mark: null, sources };
    if (type === null) return { mark: this.#findDenying(ANY_MODEL, field, 0), sources };
    const paths = type.related === null ? listPaths(type, known) : [type.related];
    const isText = type.related === null && TEXTS.has(type.type);
    for (const source of this.#listSources(model, field, paths, isText)) {
      if (source.at !== ANY_MODEL) sources.push(`${source.at} ${source.field}`);
      else {
        const mark = this.#findDenying(ANY_MODEL, source.field, 0);
        if (mark !== null) return { mark, sources: [] };
      }
    }
    return { mark: null, sources };
  }

  /**
   * The last fields of the paths on which the field depends. A text that depends on a many2one field can show the name
   * of its record: `["journal_id"]` is the only declared dependency of the display name of a payment method.
   */
  #listSources(
    model: string,
    field: string,
    paths: FieldType['computedFrom'],
    isText: boolean,
  ): { at: string | null; field: string }[] {
    const sources: { at: string | null; field: string }[] = [];
    for (const path of paths) {
      if (field === DISPLAY_NAME && !showsInName(model, path[0] ?? '')) continue;
      const last = path.at(-1) ?? '';
      // Following a longer path needs the fields of further models.
      if (path.length > 2 && !this.#mayDeny(last)) continue;
      const at = this.#follow(model, path);
      if (at === 'lacking') continue;
      sources.push({ at, field: last });
      if (!isText || at === ANY_MODEL || !this.#isWorthAsking(at, DISPLAY_NAME)) continue;
      const type = this.#findType(at, last);
      if (type === 'lacking' || type?.type !== 'many2one') continue;
      sources.push({ at: type.relation, field: DISPLAY_NAME });
    }
    return sources;
  }

  /**
   * False if asking the server is useless: the field of a model without rules does not have the value of a field that
   * `deny` names.
   */
  #isWorthAsking(model: string, field: string): boolean {
    return this.#known.types.has(model) || this.#rules.listNaming(model).length > 0 || this.#mayDeny(field);
  }

  /** Whether a rule could deny the field in some model. */
  #mayDeny(field: string): boolean {
    if (this.#rules.hasAllow) return true;
    const shown = [field, ...listShownFields(field), ...listShownAnywhere(field)];
    return shown.some((each) => this.#rules.findDenyingAnywhere(each) !== null);
  }

  /** A computed field that shows a denied field is denied, unless a rule allows it by its name. */
  #findDenyingSource(model: string | null, field: string): CompiledFieldRule | null {
    if (model !== null && showsAnyName(model, field)) return this.#findDenyingRecordName(model, field);
    for (const source of listShownFields(field)) {
      const rule = this.#rules.findDenying(model, source);
      if (rule !== null && 'deny' in rule.rule) return rule;
    }
    return null;
  }

  /**
   * A field that shows the name of a record of any model: every rule applies. A rule that allows the field by its name
   * takes precedence.
   */
  #findDenyingRecordName(model: string, field: string): CompiledFieldRule | null {
    const own = this.#rules.ofModel(model);
    if (own.some(({ rule, matches }) => 'allow' in rule && matches(field))) return null;
    return this.#rules.findDenying(ANY_MODEL, DISPLAY_NAME);
  }

  /** Only the last field of the path is checked, because only its value is shown. */
  #checkRelated(model: string, related: readonly string[], depth: number): CompiledFieldRule | null {
    const at = this.#follow(model, related);
    if (at === 'lacking') return null;
    if (depth === DEPTH_MAX) return this.#rules.all[0] ?? null;
    const rule = this.#findDenying(at, related.at(-1) ?? '', depth + 1, true);
    // A rule that allows this field by its name need not allow the field whose value it has.
    return rule !== null && at === model && 'allow' in rule.rule ? null : rule;
  }

  /**
   * A field that the model inherits from another record can be computed there from one that it inherits too:
   * `contract_wage` of employees from `wage`.
   */
  #checkInherited(
    model: string,
    [link = '', field = '', ...more]: readonly string[],
  ): CompiledFieldRule | null {
    const check = this.#findDenyingCheck();
    const type = this.#findType(model, link);
    if (check === null || type === null || type === 'lacking' || more.length > 0) return null;
    const { relation } = type;
    if (relation === null || INHERITED_MODELS.get(model)?.includes(relation) !== true) return null;
    const names = new Set([field]);
    for (const name of names) {
      const rule = name === field ? null : check.#rules.findDenying(model, name);
      if (rule !== null) return rule;
      for (const source of check.#listOwnSources(relation, name)) names.add(source);
    }
    return null;
  }

  /** The fields of the same record from which a field is computed. */
  #listOwnSources(model: string, field: string): string[] {
    const known = findComputedField(model, field);
    const type = this.#findType(model, field);
    const declared = type === null || type === 'lacking' ? NONE : listPaths(type, known);
    return [
      ...(known?.sources ?? []).flatMap((source) => (source.model === model ? source.field : [])),
      ...(known?.writers ?? []),
      ...declared.flatMap(([first = '', ...more]) => (more.length === 0 ? first : [])),
    ];
  }

  /** The model of the last field of a path; null: not known. */
  #follow(model: string, path: readonly string[]): string | null | 'lacking' {
    let at: string | null = model;
    for (const field of path.slice(0, -1)) {
      if (at === null) break;
      const type = this.#findType(at, field);
      if (type === 'lacking') return 'lacking';
      const next = findRelation(type);
      at = next === 'none' ? ANY_MODEL : next;
    }
    return at;
  }

  /** Null: the server does not describe the field. */
  #findType(model: string, field: string): FieldType | null | 'lacking' {
    const types = this.#known.types.get(model);
    if (types !== undefined) return types.get(field) ?? null;
    const fields = this.lacking.get(model) ?? new Set();
    this.lacking.set(model, fields.add(field));
    return 'lacking';
  }
}

const TAIL_FIELDS: Readonly<Record<Exclude<Tail, 'parents' | null>, string>> = {
  shown: DISPLAY_NAME,
  named: DISPLAY_NAME,
  all: DISPLAY_NAME,
  searched: NAME_SEARCH,
  sorted: DISPLAY_NAME,
  grouped: DISPLAY_NAME,
};

/**
 * The paths on which a field depends, if its value shows the fields there. For a stored field, the table is more
 * precise.
 */
function listPaths(type: FieldType, known: ComputedField | null): FieldType['computedFrom'] {
  return type.isStored && known?.showsAll === false ? NONE : type.computedFrom;
}

/** The model of the records that the field leads to. `none`: it leads to no records. Null: the model is not known. */
function findRelation(type: FieldType | null): string | null | 'none' {
  if (type === null) return ANY_MODEL;
  if (type.relation !== null) return type.relation;
  return type.type.endsWith('reference') ? ANY_MODEL : 'none';
}
