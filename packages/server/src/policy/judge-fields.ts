/**
 * Decides whether the rules of a policy allow the fields that a call names. Types of fields tell which model a path
 * leads to, and which fields have the value of another one. Pure: types that are not known yet are asked for by the
 * caller. Until then nothing that depends on them is denied.
 */
import { findParentField, listShownFields, NAME_SEARCH, PARENTS } from '../odoo/fields/field-sources.ts';
import type { FieldUse, Tail } from '../odoo/fields/field-uses.ts';
import type { FieldType, FieldTypes } from '../odoo/values/field-types.ts';
import type { CompiledFieldRule, FieldRules } from './field-rules.ts';

/** The types of a model's fields, by model. A model that is missing is not known yet. */
export type KnownTypes = ReadonlyMap<string, FieldTypes>;

export interface DeniedField {
  rule: CompiledFieldRule;
  /** Null: not known. */
  model: string | null;
  field: string;
  /** The path by which the call names it. */
  path: readonly string[];
}

/** By model: fields whose types are needed. */
export type LackingTypes = Map<string, Set<string>>;

const DISPLAY_NAME = 'display_name';
/** Fields that have the value of a field that has the value of … */
const DEPTH_MAX = 8;
/** A related record of any model: every rule is applied. */
const ANY_MODEL = null;

export class FieldJudge {
  /** Grows while uses are judged. */
  readonly lacking: LackingTypes = new Map();
  readonly #rules: FieldRules;
  readonly #known: KnownTypes;

  constructor(rules: FieldRules, known: KnownTypes) {
    this.#rules = rules;
    this.#known = known;
  }

  /** Null: allowed, as far as the types are known. */
  judge(model: string, use: FieldUse): DeniedField | null {
    const { path, tail } = use;
    if (use.model === null) return this.#judgeAnywhere(path);
    let at: string | null = use.model ?? model;
    for (const [index, name] of path.entries()) {
      const field = name === PARENTS ? findParentField(at) : name;
      const rest = path.slice(index + 1);
      const rule = this.#findDenying(at, field, 0);
      if (rule !== null) return { rule, model: at, field, path: [...path.slice(0, index), field, ...rest] };
      if (rest.length === 0 && tail === null) return null;
      if (at === null) continue;
      const type = this.#findType(at, field);
      if (type === 'lacking') return null;
      if (rest.length === 0 && tail === 'shown' && type !== null && type.type !== 'many2one') return null;
      const next = findRelation(type);
      // A part of a date, or a member of `properties`.
      if (next === 'none') return null;
      at = next;
    }
    if (tail === null) return null;
    const field = tail === 'parents' ? findParentField(at) : TAIL_FIELDS[tail];
    const rule = this.#findDenying(at, field, 0);
    return rule && { rule, model: at, field, path };
  }

  /** Judges a default in the context, which can be for any model. What `allow` leaves out is not denied. */
  #judgeAnywhere(path: readonly string[]): DeniedField | null {
    const [field = ''] = path;
    const rule = [field, ...listShownFields(field)]
      .map((each) => this.#rules.findDenyingAnywhere(each))
      .find((found) => found !== null);
    return rule == null ? null : { rule, model: ANY_MODEL, field, path };
  }

  #findDenying(model: string | null, field: string, depth: number): CompiledFieldRule | null {
    const own = this.#rules.findDenying(model, field) ?? this.#findDenyingSource(model, field);
    if (own !== null || model === null) return own;
    if (depth > 0 && !this.#canCarry(model, field)) return null;
    const type = this.#findType(model, field);
    if (type === 'lacking') return null;
    // The server does not describe the field to this user, but related fields show its value all the same.
    if (type === null) return depth === 0 ? null : this.#findDenying(ANY_MODEL, field, depth);
    return type.related === null ? null : this.#judgeRelated(model, type.related, depth);
  }

  /** False saves a question: the field of a model without rules is not related to a field that `deny` names. */
  #canCarry(model: string, field: string): boolean {
    if (this.#rules.hasAllow || this.#rules.listNaming(model).length > 0) return true;
    return [field, ...listShownFields(field)].some((each) => this.#rules.findDenyingAnywhere(each) !== null);
  }

  /** A computed field that shows a denied field is denied, unless a rule allows it by its name. */
  #findDenyingSource(model: string | null, field: string): CompiledFieldRule | null {
    for (const source of listShownFields(field)) {
      const rule = this.#rules.findDenying(model, source);
      if (rule !== null && 'deny' in rule.rule) return rule;
    }
    return null;
  }

  /** Only the last field of the path is judged, because only its value is shown. */
  #judgeRelated(model: string, related: readonly string[], depth: number): CompiledFieldRule | null {
    const last = related.at(-1) ?? '';
    let at: string | null = model;
    for (const field of related.slice(0, -1)) {
      if (at === null) break;
      const type = this.#findType(at, field);
      if (type === 'lacking') return null;
      const next = findRelation(type);
      at = next === 'none' ? ANY_MODEL : next;
    }
    if (depth === DEPTH_MAX) return this.#rules.all[0] ?? null;
    const rule = this.#findDenying(at, last, depth + 1);
    // A rule that allows this field by its name need not allow the other one.
    return rule !== null && at === model && 'allow' in rule.rule ? null : rule;
  }

  /** Null: the server does not describe the field. */
  #findType(model: string, field: string): FieldType | null | 'lacking' {
    const types = this.#known.get(model);
    if (types !== undefined) return types.get(field) ?? null;
    const fields = this.lacking.get(model) ?? new Set();
    this.lacking.set(model, fields.add(field));
    return 'lacking';
  }
}

const TAIL_FIELDS: Readonly<Record<Exclude<Tail, 'parents' | null>, string>> = {
  shown: DISPLAY_NAME,
  named: DISPLAY_NAME,
  searched: NAME_SEARCH,
};

/** `none`: the field leads to no records. Null: to records of a model that is not known. */
function findRelation(type: FieldType | null): string | null | 'none' {
  if (type === null) return ANY_MODEL;
  if (type.relation !== null) return type.relation;
  return type.type.endsWith('reference') ? ANY_MODEL : 'none';
}
