/**
 * The parameters of the methods that every model of Odoo 19 has, as data (docs/odoo-facts.md#parameters). A method that
 * is not listed can have any parameters. Their names are known only from the server's doc page (doc-page.ts).
 */
import { parseSignature, type Signature } from './signature.ts';

/** The signature of a method that every model has; undefined for any other method. */
export function findSignature(model: string, method: string): Signature | undefined {
  return OVERRIDES.get(`${model}/${method}`) ?? SIGNATURES.get(method);
}

export const SIGNATURES: ReadonlyMap<string, Signature> = parseTable({
  // Identical on all 397 recorded models.
  read: 'ids (fields=, load=)',
  search: 'model (domain, offset=, limit=, order=)',
  search_read: 'model (domain=, fields=, offset=, limit=, order=, **read_kwargs)',
  search_count: 'model (domain, limit=)',
  fields_get: 'model (allfields=, attributes=)',
  create: 'model (vals_list)',
  write: 'ids (vals)',
  unlink: 'ids ()',
  copy: 'ids (default=)',
  copy_data: 'ids (default=)',
  name_search: 'model (name=, domain=, operator=, limit=)',
  name_create: 'model (name)',
  formatted_read_group: 'model (domain, groupby=, aggregates=, having=, offset=, limit=, order=)',
  default_get: 'model (fields)',
  has_access: 'ids (operation)',
  web_search_read: 'model (domain, specification, offset=, limit=, order=, count_limit=)',
  web_read: 'ids (specification)',
  web_save: 'ids (vals, specification, next_id=)',
  web_read_group:
    'model (domain, groupby, aggregates=, limit=, offset=, order=, *, auto_unfold=, opening_info=, unfold_read_specification=, unfold_read_default_limit=, groupby_read_specification=)',
  onchange: 'ids (values, field_names, fields_spec)',
  get_views: 'model (views, options=)',
  get_view: 'model (view_id=, view_type=, **options)',
  load: 'model (fields, data)',
  export_data: 'ids (fields_to_export)',
  action_archive: 'ids ()',
  action_unarchive: 'ids ()',
  // Deprecated and omitted from the doc page, but still working (docs/odoo-facts.md#doc-page).
  read_group: 'model (domain, fields, groupby, offset=, limit=, orderby=, lazy=)',
  check_access_rights: 'model (operation, raise_exception=)',
  check_access_rule: 'ids (operation)',
  toggle_active: 'ids ()',

  // Defined for every model, and identical on all six models of signatures-19.0.json.
  formatted_read_grouping_sets: 'model (domain, grouping_sets, aggregates=, *, order=)',
  web_save_multi: 'ids (vals_list, specification)',
  web_name_search: 'model (name, specification, domain=, operator=, limit=)',
  web_resequence: 'ids (specification, field_name=, offset=)',
  get_metadata: 'ids ()',
  get_external_id: 'ids ()',
  get_base_url: 'ids ()',
  get_property_definition: 'model (full_name)',
  get_field_translations: 'ids (field_name, langs=)',
  update_field_translations: 'ids (field_name, translations, source_lang=)',
  copy_translations: 'ids (new, excluded=)',
  read_progress_bar: 'model (domain, group_by, progress_bar)',
  search_panel_select_range: 'model (field_name, **kwargs)',
  search_panel_select_multi_range: 'model (field_name, **kwargs)',
  is_transient: 'ids ()',

  // Methods of every model with messages: 31 of the 397 recorded models.
  message_post: 'ids (*args, body=, message_type=, **kwargs)',

  // Methods that Odoo refuses in calls (docs/odoo-facts.md#private-methods).
  search_fetch: 'private model (domain, field_names=, offset=, limit=, order=)',
  fetch: 'private ids (field_names=)',
  check_access: 'private ids (operation)',
  exists: 'private ids ()',
  browse: 'private ids (ids=)',
  sudo: 'private ids (flag=)',
  with_context: 'private ids (ctx=, /, **overrides)',
  with_user: 'private ids (user)',
  filtered: 'private ids (func)',
  mapped: 'private ids (func)',
  sorted: 'private ids (key=, reverse=)',
  ensure_one: 'private ids ()',
  new: 'private model (values=, origin=, ref=)',
  invalidate_recordset: 'private ids (fnames=, flush=)',
  flush_recordset: 'private ids (fnames=)',
  flush_model: 'private ids (fnames=)',
  concat: 'private ids (*args)',
  union: 'private ids (*args)',
  modified: 'private ids (fnames, create=, before=)',
});

/** Models with different parameters: there are four overrides in all of Odoo (docs/odoo-facts.md#parameters). */
export const OVERRIDES: ReadonlyMap<string, Signature> = parseTable({
  'iap.account/web_read': 'ids (*args, **kwargs)',
  'iap.account/web_save': 'ids (*args, **kwargs)',
  'discuss.channel/message_post': 'ids (*, message_type=, partner_ids=, **kwargs)',
  'sale.order/message_post': 'ids (**kwargs)',
});

function parseTable(table: Record<string, string>): Map<string, Signature> {
  return new Map(Object.entries(table).map(([method, text]) => [method, parseSignature(text)]));
}
