/**
 * What is known about Odoo's methods by name: which are read-only, and how `keyword.limit` is enforced for them.
 * Independent of policies and versions: a method counts as read-only only if it is so in every version from 14.
 */

/**
 * Methods of every model that are read-only. A wrong entry could cause a write to be sent twice, so uncertain methods
 * are not listed: `default_get` and `onchange` run code of the model, `export_data` creates external ids.
 */
const READ_ONLY_METHODS: ReadonlySet<string> = new Set([
  // Marked readonly on all six models of signatures-18.0.json and signatures-19.0.json
  // (docs/odoo-facts.md#readonly-methods).
  'read',
  'search',
  'search_read',
  'search_count',
  'search_fetch',
  'name_search',
  'read_group',
  'read_progress_bar',
  'web_read',
  'web_search_read',
  'web_read_group',
  'get_views',
  // New in 19, and marked readonly on all six models of signatures-19.0.json.
  'formatted_read_group',
  'formatted_read_grouping_sets',
  'web_name_search',
  // Not marked in any version, but the ORM's definition only reads.
  'fields_get',
  'name_get',
  'get_metadata',
  'exists',
  'has_access',
  'check_access',
  'check_access_rights',
  'check_access_rule',
]);

/** Read-only methods of a single model. */
const READ_ONLY_METHODS_OF_MODEL: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  // The proxy's own look-up of a key's user (docs/odoo-facts.md#json2-user), and the check of a group
  // (docs/odoo-facts.md#parameters).
  ['res.users', new Set(['context_get', 'has_group'])],
]);

/** Read-only methods that write on a single model (docs/odoo-facts.md#reads-that-write). */
const WRITING_METHODS_OF_MODEL: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['iap.account', new Set(['web_read'])],
  ['website.route', new Set(['name_search', 'web_name_search'])],
]);

/**
 * Methods of every model that are known to write only to that model (docs/odoo-facts.md#parameters). The list need not
 * be complete.
 */
const WRITE_METHODS: ReadonlySet<string> = new Set([
  'create',
  'write',
  'unlink',
  'copy',
  'name_create',
  'load',
  'action_archive',
  'action_unarchive',
  'toggle_active',
  'message_post',
  'web_save',
  'web_save_multi',
  'web_resequence',
]);

/**
 * Methods without a `limit` parameter that take ids or rows. If there are more than the limit, the call is refused
 * (docs/execute.md#limit, docs/odoo-facts.md#read-limit).
 */
const LIMIT_REFUSING_METHODS: ReadonlySet<string> = new Set(['write', 'unlink', 'copy', 'create']);

/** True only if the method is known to be read-only. Such a call may be sent again. */
export function isReadOnlyMethod(method: string, model?: string): boolean {
  if (model !== undefined && WRITING_METHODS_OF_MODEL.get(model)?.has(method) === true) return false;
  if (READ_ONLY_METHODS.has(method)) return true;
  return model !== undefined && READ_ONLY_METHODS_OF_MODEL.get(model)?.has(method) === true;
}

/** True only if the method is known to write to its own model alone. */
export function isWriteMethod(method: string): boolean {
  return WRITE_METHODS.has(method);
}

/** What a call does as far as its name shows: a label with few values, for metrics. */
export function classifyAction(method: string): 'read' | 'write' | 'other' {
  if (READ_ONLY_METHODS.has(method)) return 'read';
  return WRITE_METHODS.has(method) ? 'write' : 'other';
}

/** False if the answer of the method has no values of fields: a write that returns ids or true. */
export function mayReturnFields(method: string): boolean {
  return !WRITE_METHODS.has(method) || method.startsWith('web_');
}

/** Models whose records control access to records of other models. */
const RIGHTS_MODELS: ReadonlySet<string> = new Set(['res.users', 'res.groups', 'ir.rule', 'ir.model.access']);

/** The model whose kept answers a write makes stale; null: possibly any model. */
export function findWrittenModel(model: string, method: string): string | null {
  return WRITE_METHODS.has(method) && !RIGHTS_MODELS.has(model) ? model : null;
}

/** How `keyword.limit` is enforced: by cutting the ids, by refusing too many ids or rows, or by Odoo. */
export function limitRule(method: string): 'cut' | 'refuse' | 'pass' {
  if (method === 'read') return 'cut';
  return LIMIT_REFUSING_METHODS.has(method) ? 'refuse' : 'pass';
}
