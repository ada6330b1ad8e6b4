/** What completion offers in the JSON of a policy. Pure. */
import { type DataRoute, POLICY_SUMMARIES, type Policy } from '@erp-proxy/contract';
import type { JsonPlace, JsonSuggestion } from '../../parts/json-editor/json-editor.tsx';
import type { FieldTable } from '../../parts/odoo-fields.ts';

/** Names to choose from. */
export interface KnownNames {
  instances: readonly string[];
  models: readonly string[];
  /** Known labels of models, by name. */
  labels: Readonly<Record<string, string>>;
  actions: readonly string[];
}

const DATA_ROUTES: Record<DataRoute, string> = {
  export: 'POST /api/erp/export',
  changes: 'POST /api/erp/changes',
  files: 'download and upload',
  documents: 'POST /api/erp/document',
  subscriptions: 'webhooks',
};

const OBJECTS: Partial<Record<keyof Policy, Record<string, string>>> = {
  rate: { requests: 'number of calls', seconds: 'the span', burst: 'calls at once' },
  context: { lang: 'e.g. fr_FR', tz: 'e.g. Europe/Paris', allowed_company_ids: 'ids' },
};

const FLAGS: readonly string[] = [
  'read_only',
  'allow_unknown_methods',
  'cache',
  'publishable',
] satisfies (keyof Policy)[];
const BY_MODEL: readonly string[] = ['models', 'approve', 'unattended', 'fields'] satisfies (keyof Policy)[];

/** Models that most integrations use, suggested in addition to those that were called. */
export const COMMON_MODELS = [
  'res.partner',
  'res.users',
  'res.company',
  'res.country',
  'product.template',
  'product.product',
  'product.*',
  'sale.order',
  'sale.order.line',
  'purchase.order',
  'account.move',
  'account.move.line',
  'stock.picking',
  'stock.quant',
  'crm.lead',
  'project.task',
  'ir.model',
  '*',
];
export const COMMON_ACTIONS = [
  'read',
  'search_read',
  'search',
  'search_count',
  'name_search',
  'read_group',
  'formatted_read_group',
  'fields_get',
  'create',
  'write',
  'unlink',
  'copy',
  'action_confirm',
  'action_post',
  'message_post',
  'search*',
  '*',
];

/** The model whose fields are expected at the place; null if none are. */
export function findFieldsModel({ expects, path }: JsonPlace): string | null {
  const [member, model, kind] = path;
  const isList = member === 'fields' && path.length === 4 && (kind === 'allow' || kind === 'deny');
  return isList && expects === 'value' && typeof model === 'string' ? model : null;
}

/** `fields`: the fields of the model that {@link findFieldsModel} returned. */
export function suggestPolicy(
  { expects, path }: JsonPlace,
  known: KnownNames,
  fields: FieldTable = {},
): JsonSuggestion[] {
  const [member, second, third] = path;
  if (expects === 'name') {
    if (member === undefined) return describe(POLICY_SUMMARIES);
    if (path.length === 1 && BY_MODEL.includes(String(member))) return listModels(known);
    if (path.length === 2 && member === 'fields') {
      return describe({ allow: 'only these fields', deny: 'all fields but these' });
    }
    return path.length === 1 ? describe(OBJECTS[member as keyof Policy] ?? {}) : [];
  }
  if (findFieldsModel({ expects, path, previous: null }) !== null) {
    return Object.entries(fields).map(([value, { string }]) => ({ value, detail: string }));
  }
  if (path.length === 1 && FLAGS.includes(String(member))) return [{ value: true }];
  if (path.length === 2 && member === 'instances') return list(known.instances);
  if (path.length === 2 && member === 'data') return describe(DATA_ROUTES);
  if (path.length === 3 && member !== 'fields' && BY_MODEL.includes(String(member)) && second !== undefined) {
    return typeof third === 'number' ? list(known.actions) : [];
  }
  return [];
}

function describe(details: Record<string, string>): JsonSuggestion[] {
  return Object.entries(details).map(([value, detail]) => ({ value, detail }));
}

function listModels({ models, labels }: KnownNames): JsonSuggestion[] {
  return models.map((value) => {
    const detail = labels[value];
    return detail === undefined ? { value } : { value, detail };
  });
}

function list(names: readonly string[]): JsonSuggestion[] {
  return names.map((value) => ({ value }));
}
