/** Reads the models that match patterns, with their fields, through a proxy. */
import { isObject } from '@erp-proxy/json';
import { CommandError } from '../command.ts';
import { type Ask, Refusal } from './ask.ts';
import { type FieldDescription, findLackingDefaults } from './lacking-defaults.ts';
import { readMethods } from './read-methods.ts';

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
