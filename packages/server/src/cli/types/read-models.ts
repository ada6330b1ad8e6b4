/** Reads the models that match patterns, with their fields, through a proxy. */
import { isObject } from '@erp-proxy/json';
import { CommandError } from '../command.ts';

export interface DescribedModel {
  name: string;
  /** Null if unknown: the list of models was not read. */
  label: string | null;
  fields: readonly DescribedField[];
  /** The methods that the form's buttons call. */
  methods: readonly string[];
}

export interface DescribedField {
  name: string;
  type: string;
  label: string | null;
  help: string | null;
  relation: string | null;
  /** True if the ids of the related records are texts. */
  hasTextIds: boolean;
  values: readonly (string | number)[];
  isRequired: boolean;
  /** True if a new record is known to need a value from its caller. */
  lacksDefault: boolean;
  isReadonly: boolean;
}

const ATTRIBUTES = [
  'type',
  'string',
  'help',
  'required',
  'readonly',
  'relation',
  'selection',
  'store',
  'states',
  'depends',
  'related',
];
const PAGE_MODELS = 1000;

/** Models whose ids are texts from Odoo 18 on. Fields that lead to them are not stored in these versions. */
const MODELS_WITH_TEXT_IDS = ['account.root'];

/** Refusals that concern one model. A model that a pattern found is left out. */
const REFUSALS_OF_MODEL = [
  'access_error',
  'policy_denied',
  'model_not_found',
  'upstream_error',
  'method_not_found',
];

/** `leaveOut` is called for a model that a pattern found and that cannot be read. */
export async function readModels(
  ask: Ask,
  patterns: readonly string[],
  leaveOut: (model: string, reason: string) => void,
): Promise<DescribedModel[]> {
  const named = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const labels = named.size < patterns.length ? await findModels(ask, patterns) : new Map<string, string>();
  const models: DescribedModel[] = [];
  for (const name of [...new Set([...named, ...labels.keys()])].sort()) {
    try {
      const description = await ask(name, 'fields_get', [], { attributes: ATTRIBUTES });
      const descriptions = readDescriptions(name, description);
      const lacking = await findLackingDefaults(ask, name, descriptions);
      const fields = Object.entries(descriptions).map(([field, described]) =>
        describeField(field, described, lacking.has(field)),
      );
      const methods = await readMethods(ask, name);
      models.push({ name, label: labels.get(name) ?? null, fields, methods });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (named.has(name) || !REFUSALS_OF_MODEL.includes(error.type)) {
        throw new CommandError(`${name}: ${error.message}`, 1);
      }
      leaveOut(name, error.message);
    }
  }
  return models;
}

/** The names and labels of the models that match. */
async function findModels(ask: Ask, patterns: readonly string[]): Promise<Map<string, string>> {
  const matches = patterns.map((pattern) => {
    const source = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
    return new RegExp(`^${source.join('.*')}$`);
  });
  const found = new Map<string, string>();
  const matched = new Set<RegExp>();
  for (let after = 0; ; ) {
    const rows = await askForModels(ask, after);
    for (const { model, name } of rows) {
      const matching = matches.filter((pattern) => pattern.test(model));
      for (const pattern of matching) matched.add(pattern);
      if (matching.length > 0) found.set(model, name);
    }
    const last = rows.at(-1);
    // Only an empty page is the end: a policy may shorten pages.
    if (last === undefined) break;
    after = last.id;
  }
  const missing = patterns.filter(
    (pattern, at) => pattern.includes('*') && !matched.has(matches[at] as RegExp),
  );
  if (missing.length > 0) throw new CommandError(`No model matches ${missing.join(', ')}.`, 1);
  return found;
}

async function askForModels(ask: Ask, after: number): Promise<{ id: number; model: string; name: string }[]> {
  const domain = [['id', '>', after]];
  const keyword = { fields: ['model', 'name'], order: 'id', limit: PAGE_MODELS };
  try {
    const rows = await ask('ir.model', 'search_read', [domain], keyword);
    if (Array.isArray(rows)) return rows;
  } catch (error) {
    if (!(error instanceof Refusal) || !['access_error', 'policy_denied'].includes(error.type)) throw error;
    throw new CommandError(
      `The list of models (ir.model) cannot be read: ${error.message}\nName the models without *: --models res.partner,sale.order.`,
      1,
    );
  }
  throw new CommandError('ir.model: the answer is not a list of models.', 1);
}

function readDescriptions(model: string, result: unknown): Record<string, FieldDescription> {
  if (!isObject(result)) throw new CommandError(`${model}: the answer does not describe fields.`, 1);
  for (const [name, field] of Object.entries(result)) {
    if (isObject(field) && typeof field['type'] === 'string') continue;
    throw new CommandError(`${model}: the answer does not describe the field ${name}.`, 1);
  }
  return result as Record<string, FieldDescription>;
}

function describeField(name: string, field: FieldDescription, lacksDefault: boolean): DescribedField {
  const { type, string, help, required, readonly, relation, selection, store, states } = field;
  return {
    name,
    type,
    label: readText(string),
    help: readText(help),
    relation: readText(relation),
    hasTextIds: store === false && MODELS_WITH_TEXT_IDS.includes(String(relation)),
    values: Array.isArray(selection) ? selection.flatMap(readSelectionValue) : [],
    // A field that is not stored may be empty even if it is required.
    isRequired: required === true && store !== false,
    lacksDefault,
    // Until Odoo 16, a field can be readonly in some states only.
    isReadonly: readonly === true && !isObject(states),
  };
}

function readSelectionValue(pair: unknown): (string | number)[] {
  const value: unknown = Array.isArray(pair) ? pair[0] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? [value] : [];
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** Calls a method of a model. Throws a {@link Refusal} if the answer is an error. */
export type Ask = (model: string, action: string, params: unknown[], keyword: object) => Promise<unknown>;

/** An error that the proxy or Odoo answered. */
export class Refusal extends Error {
  readonly type: string;
  /** True if the same call may succeed later. */
  readonly isPassing: boolean;

  constructor(type: string, message: string, isPassing: boolean) {
    super(message);
    this.type = type;
    this.isPassing = isPassing;
  }
}

/** The attributes of a field that Odoo reports. */
interface FieldDescription extends Readonly<Record<string, unknown>> {
  type: string;
}

/**
 * Finds the required fields of a model that have no default, so that a new record needs values for them. Odoo does not
 * report that, so its defaults are read. Empty if Odoo refuses to report them: no field is then described as lacking
 * one.
 */
async function findLackingDefaults(
  ask: Ask,
  model: string,
  fields: Readonly<Record<string, FieldDescription>>,
): Promise<ReadonlySet<string>> {
  const names = listUndecided(fields);
  if (names.length === 0) return new Set();
  try {
    const defaults = await ask(model, 'default_get', [names], {});
    if (typeof defaults !== 'object' || defaults === null || Array.isArray(defaults)) return new Set();
    return new Set(names.filter((name) => !Object.hasOwn(defaults, name)));
  } catch (error) {
    // Rethrown, because the types must not depend on an error that can pass.
    if (!(error instanceof Refusal) || error.isPassing) throw error;
    return new Set();
  }
}

/** Types of fields that Odoo fills without a default. */
const FILLED_TYPES = ['boolean', 'one2many', 'many2many'];

/**
 * The required fields that need a value from the caller or from a default: stored ones that can be written. Odoo
 * computes other fields, and creates the parent record of `_inherits`, which related fields lead to.
 */
function listUndecided(description: Readonly<Record<string, FieldDescription>>): string[] {
  const fields = Object.entries(description);
  const parents = new Set(fields.map(([, { related }]) => readPath(related)?.[0]));
  return fields
    .filter(
      ([name, { type, required, readonly, store, depends, related }]) =>
        required === true &&
        readonly !== true &&
        store !== false &&
        !FILLED_TYPES.includes(String(type)) &&
        !(Array.isArray(depends) && depends.length > 0) &&
        readPath(related) === null &&
        !parents.has(name),
    )
    .map(([name]) => name);
}

/** A path of fields. Until Odoo 15 it is a list. */
function readPath(value: unknown): unknown[] | null {
  if (typeof value === 'string') return value.split('.');
  return Array.isArray(value) && value.length > 0 ? value : null;
}

/** The method that describes a view: from Odoo 16 on, and before. */
const VIEW_METHODS = ['get_view', 'fields_view_get'];
/** Matches tags. Odoo escapes `>` in attributes. */
const TAG = /<(\/?)(field|button)\b([^>]*?)(\/?)>/g;
const CALLS_METHOD = /\btype="object"/;
const NAME = /\bname="([a-z]\w*)"/i;

/**
 * Finds the methods that the buttons of a model's form call, as sorted names. Empty if the model has no form, or the
 * user may not see it.
 */
async function readMethods(ask: Ask, model: string): Promise<readonly string[]> {
  for (const method of VIEW_METHODS) {
    try {
      const view = await ask(model, method, [], { view_type: 'form' });
      const arch = isObject(view) && typeof view['arch'] === 'string' ? view['arch'] : '';
      return [...new Set(listButtons(arch))].sort();
    } catch (error) {
      // Rethrown, because the types must not depend on an error that can pass.
      if (!(error instanceof Refusal) || error.isPassing) throw error;
    }
  }
  return [];
}

/** The methods of the form's own buttons. Buttons within a field belong to views of related records. */
function listButtons(arch: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [, end, tag, attributes = '', isEmpty] of arch.matchAll(TAG)) {
    if (tag === 'field' && isEmpty === '') depth += end === '' ? 1 : -1;
    const name = tag === 'button' && CALLS_METHOD.test(attributes) ? NAME.exec(attributes)?.[1] : undefined;
    if (depth === 0 && name !== undefined) names.push(name);
  }
  return names;
}
