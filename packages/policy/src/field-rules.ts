/**
 * Determines which fields of which model a policy allows. Pure. check-fields.ts applies it to the fields that a call
 * names, and to fields that have the same values under another name.
 */
import { compileGlob, type FieldRule, type Policy } from '@erp-proxy/contract';
import {
  INHERITED_MODELS,
  listNameFields,
  listSameFields,
  listSearchedElsewhere,
  listSearchedFields,
  NAME_SEARCH,
  SPECIAL_NAME_MODELS,
} from '@erp-proxy/odoo/fields';
import { compilePatterns } from './pattern.ts';

export interface CompiledFieldRule {
  /** e.g. `fields["res.partner"]`. */
  readonly name: string;
  readonly rule: FieldRule;
  matchesModel(model: string): boolean;
  /** Whether a pattern of the rule matches the field. */
  matches(field: string): boolean;
}

const ALWAYS_ALLOWED = 'id';
const DISPLAY_NAME = 'display_name';
const MODELS_MAX = 1000;

export class FieldRules {
  readonly all: readonly CompiledFieldRule[];
  /** Whether a rule has `allow`. */
  readonly hasAllow: boolean;
  /** The rules with `deny`, if there are also rules with `allow`. */
  #denying: FieldRules | null = null;
  /** Rules by model. Callers choose the names of models, so the map is bounded. */
  readonly #ofModel = new Map<string, readonly CompiledFieldRule[]>();

  readonly #fields: NonNullable<Policy['fields']>;

  constructor(fields: NonNullable<Policy['fields']>) {
    this.#fields = fields;
    this.all = Object.entries(fields).map(([pattern, rule]) => ({
      name: `fields[${JSON.stringify(pattern)}]`,
      rule,
      matchesModel: compileGlob(pattern),
      matches: compileField('allow' in rule ? rule.allow : rule.deny),
    }));
    this.hasAllow = this.all.some(({ rule }) => 'allow' in rule);
  }

  /** These rules without the rules that have `allow`. */
  get denying(): FieldRules {
    if (!this.hasAllow) return this;
    this.#denying ??= new FieldRules(
      Object.fromEntries(Object.entries(this.#fields).filter(([, rule]) => 'deny' in rule)),
    );
    return this.#denying;
  }

  /** The rules that apply to a model, without rules for models that it inherits from. */
  ofModel(model: string): readonly CompiledFieldRule[] {
    const known = this.#ofModel.get(model);
    if (known !== undefined) return known;
    const rules = this.all.filter(({ matchesModel }) => matchesModel(model));
    if (this.#ofModel.size === MODELS_MAX) this.#ofModel.clear();
    this.#ofModel.set(model, rules);
    return rules;
  }

  /**
   * The rules for the model and for models that it inherits from. If there are any, a read of the model gets its fields
   * listed.
   */
  listNaming(model: string): readonly CompiledFieldRule[] {
    const inherited = INHERITED_MODELS.get(model) ?? [];
    return [model, ...inherited].flatMap((each) => this.ofModel(each));
  }

  /**
   * The rule that denies the field itself; null if no rule does. `model` null: not known, so that every rule applies.
   */
  findDenying(model: string | null, field: string): CompiledFieldRule | null {
    const own = model === null ? this.all : this.ofModel(model);
    const denying = own.find((rule) => denies(rule, field, model)) ?? this.#findDenyingOthers(model, field);
    if (model === null && field === DISPLAY_NAME) return denying ?? this.#findDenyingSpecialName() ?? null;
    if (denying !== undefined || model === null) return denying ?? null;
    // A rule that allows the field for this model takes precedence over rules for models that it inherits from.
    if (own.some(({ rule, matches }) => 'allow' in rule && matches(field))) return null;
    const rules = listSameFields(model, field).flatMap((each) =>
      this.ofModel(each).map((rule) => ({ each, rule })),
    );
    // A field that `allow` leaves out can be a field of the model itself, which a rule for an inherited model does not
    // know.
    return rules.find(({ each, rule }) => 'deny' in rule.rule && denies(rule, field, each))?.rule ?? null;
  }

  /**
   * The rule for another model that denies a field in the display name, or a field that a search by name compares;
   * undefined if no rule does.
   */
  #findDenyingOthers(model: string | null, field: string): CompiledFieldRule | undefined {
    for (const other of listFieldsOfOthers(model, field)) {
      const found = this.ofModel(other.model).find((rule) => denies(rule, other.field, other.model));
      if (found !== undefined) return found;
      if (other.field !== NAME_SEARCH) continue;
      for (const same of listSameFields(other.model, NAME_SEARCH)) {
        const rule = this.ofModel(same).find((each) => denies(each, NAME_SEARCH, same));
        if (rule !== undefined) return rule;
      }
    }
    return undefined;
  }

  /** A rule that denies the display name of one of the models whose display name shows unusual fields. */
  #findDenyingSpecialName(): CompiledFieldRule | undefined {
    return this.all.find((rule) =>
      SPECIAL_NAME_MODELS.some((model) => rule.matchesModel(model) && denies(rule, DISPLAY_NAME, model)),
    );
  }

  /** A rule whose `deny` matches the field, for any model; null if there is none. */
  findDenyingAnywhere(field: string): CompiledFieldRule | null {
    return this.all.find((rule) => 'deny' in rule.rule && denies(rule, field, null)) ?? null;
  }
}

function listFieldsOfOthers(
  model: string | null,
  field: string,
): readonly { model: string; field: string }[] {
  if (field === DISPLAY_NAME) return listNameFields(model).ofOthers;
  return field === NAME_SEARCH && model !== null ? listSearchedElsewhere(model) : [];
}

function compileField(patterns: readonly string[]): (field: string) => boolean {
  const compiled = compilePatterns(patterns);
  return (field) => compiled.find(field) !== undefined;
}

function denies({ rule, matches }: CompiledFieldRule, field: string, model: string | null): boolean {
  if (field === ALWAYS_ALLOWED) return false;
  const isDenied = (name: string) => matches(name) !== 'allow' in rule;
  if (field === NAME_SEARCH) {
    const compared = model === null ? null : listSearchedFields(model);
    return compared === null || compared.some(isDenied);
  }
  if (field !== DISPLAY_NAME) return isDenied(field);
  const { shown, similar } = listNameFields(model);
  if ('allow' in rule) return !matches(field) && shown.some(isDenied);
  return matches(field) || [...shown, ...similar].some(isDenied);
}
