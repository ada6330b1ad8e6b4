/**
 * How the arguments of Odoo's methods name fields, as data, for versions 14 to 19 (docs/odoo-facts.md#parameters).
 * Positions are the same in every version, names are not. A method that is not listed can name and return any field.
 */

/** How an argument names fields. */
export type FieldForm =
  /** Names no fields: ids, limits, texts, switches. */
  | 'free'
  /** A list of names, or one name. */
  | 'names'
  /** A list of names, or one name; the values of the fields are returned in lists. */
  | 'listed'
  /**
   * A list of names, or one name, of a read that also returns names of related records. If empty, all fields are
   * returned.
   */
  | 'shown'
  /** A list of names, or one name, of `fields_get`; if it is empty, all fields are described. */
  | 'described'
  | 'domain'
  /** `name desc, parent_id` */
  | 'order'
  /** An order of groups. If it is empty, groups come in the order of the fields that they are grouped by. */
  | 'group_order'
  /** `date:month`, `amount:sum`, `total:sum(amount)`, `partner_id.country_id`, in lists of any depth. */
  | 'groups'
  /** Texts like `groups`; if there are none, all fields are aggregated. */
  | 'aggregates'
  /** Aggregates in 14 to 18; groups in 19. */
  | 'aggregates_or_groups'
  /** Conditions on aggregates: `[["amount:sum", ">", 3]]`. */
  | 'having'
  /** `{"partner_id": {"fields": {"name": {}}}}` */
  | 'specification'
  /** A specification; in 14 to 16 a list of names, where an empty list returns all fields. */
  | 'page_specification'
  /** An object of specifications; each key is the text of a group, such as `date:month`. */
  | 'group_specifications'
  /** The values of records. */
  | 'values'
  /** Columns: `partner_id/name`, `.id`. */
  | 'columns'
  /** Columns whose values are looked up by name. */
  | 'loaded_columns'
  /** `fields_spec` of `onchange`, or its paths in 14 to 16. */
  | 'changes'
  /** A text to search by name, unless it is empty. */
  | 'name_text'
  /** The operator of a search by name: any operator but `like` and `ilike` compares an empty text too. */
  | 'name_operator'
  /** `{"field": "state", "colors": {…}, "sum_field": "amount"}` */
  | 'progress_bar'
  /** The switch with which a search panel also reads the parents of records, unless its value is false. */
  | 'panel_parents'
  /** The switch with which all names of records that the field of a search panel can lead to are returned. */
  | 'panel_all'
  /**
   * The field of a search panel; then the conditions on the records that it leads to, and the field by which they are
   * grouped.
   */
  | 'panel_field'
  | 'panel_domain'
  | 'panel_group'
  /** A domain, or an object of domains; each key is the text of a group. */
  | 'group_domains'
  /** An argument whose names of fields cannot be read, unless it is empty. */
  | 'unreadable';

export interface FieldArgument {
  /** The names of the argument, in any version. */
  names: readonly string[];
  /** Position among the positional arguments, including the ids of a record method; null: it is always named. */
  position: number | null;
  form: FieldForm;
}

export interface FieldMethod {
  arguments: readonly FieldArgument[];
  /** Fields that the method returns or changes, whatever its arguments. */
  always: readonly string[];
  /** By argument: the field that the call uses if the argument is omitted. */
  defaults: Readonly<Record<string, string>>;
  /** Members of the context that the method sets itself. */
  context: readonly string[];
  /** True: all arguments that are not listed name no fields. */
  isOpen: boolean;
  /**
   * How the method orders records that it finds; null: it returns no records, or only the records that the call names.
   */
  records: RecordOrder | null;
  /** True: the method returns all fields, whatever its arguments. */
  returnsAll: boolean;
}

export interface RecordOrder {
  /** The argument that orders the records: without it, they come in the order of their model. Null: they always do. */
  argument: string | null;
  /** The arguments of which the method needs at least one to return records; null: it always returns records. */
  onlyWith: readonly string[] | null;
}

interface Row {
  parameters: string;
  /** The parameter that orders the records that the method finds. Null: they come in the order of their model. */
  orderedBy?: string | null;
  recordsWith?: readonly string[];
  always?: readonly string[];
  defaults?: Readonly<Record<string, string>>;
  context?: readonly string[];
  returnsAll?: true;
}

const PANEL =
  'field_name:panel_field, *, category_domain/search_domain/filter_domain:domain, comodel_domain:panel_domain, group_by:panel_group, group_domain:group_domains, expand:panel_all, enable_counters/limit/only_counters';

/**
 * Each parameter is `name[/name…][:form]`; without a form, it names no fields. Parameters after `*` are always named.
 * `**` stands for all other parameters, which name no fields.
 */
const TABLE: Readonly<Record<string, string | Row>> = {
  read: 'ids, fields:shown, load',
  search: { parameters: 'domain/args:domain, offset, limit, order:order, count', orderedBy: 'order' },
  search_count: 'domain/args:domain, limit',
  search_read: {
    parameters: 'domain:domain, fields:shown, offset, limit, order:order, *, load',
    orderedBy: 'order',
  },
  search_fetch: {
    parameters: 'domain:domain, field_names:names, offset, limit, order:order',
    orderedBy: 'order',
  },
  fetch: 'ids, field_names:names',
  exists: 'ids',
  fields_get: 'allfields/fields:described, attributes',
  // Some overrides of 18 take ids first (docs/odoo-facts.md#default-get-18).
  default_get: 'fields/fields_list/default_fields:names, fields_after_ids:names',
  get_metadata: { parameters: 'ids', always: ['create_uid', 'create_date', 'write_uid', 'write_date'] },
  get_external_id: 'ids',
  get_base_url: 'ids',
  is_transient: 'ids',
  has_access: 'ids, operation',
  check_access: 'ids, operation',
  check_access_rights: 'operation, raise_exception',
  check_access_rule: 'ids, operation',
  user_has_groups: 'groups',
  get_empty_list_help: 'help',

  name_get: { parameters: 'ids', always: ['display_name'] },
  name_search: {
    parameters: 'name:name_text, args/domain:domain, operator:name_operator, limit',
    always: ['display_name'],
    orderedBy: null,
  },
  name_create: { parameters: 'name', always: ['name', 'display_name'] },
  'res.partner/name_create': { parameters: 'name', always: ['name', 'email', 'display_name'] },
  web_name_search: {
    parameters: 'name:name_text, specification:specification, domain:domain, operator:name_operator, limit',
    context: ['formatted_display_name'],
    orderedBy: null,
  },

  read_group: 'domain:domain, fields:aggregates, groupby:groups, offset, limit, orderby:group_order, lazy',
  formatted_read_group:
    'domain:domain, groupby:groups, aggregates:groups, having:having, offset, limit, order:group_order',
  formatted_read_grouping_sets:
    'domain:domain, grouping_sets:groups, aggregates:groups, *, order:group_order',
  // In 19, the second and third parameter are groupby and aggregates, and groups that the order leaves equal follow the
  // order of their records.
  web_read_group: {
    parameters:
      'domain:domain, fields:aggregates_or_groups, groupby:groups, limit, offset, orderby/order:order, lazy, expand, expand_limit, expand_orderby:order, *, aggregates:groups, auto_unfold, opening_info:unreadable, unfold_read_specification:specification, unfold_read_default_limit, groupby_read_specification:group_specifications',
    // The records that `expand` and unfolded groups return.
    orderedBy: null,
    recordsWith: ['expand', 'auto_unfold', 'unfold_read_specification'],
  },
  read_progress_bar: 'domain:domain, group_by:groups, progress_bar:progress_bar',
  get_gantt_data: {
    parameters:
      'domain:domain, groupby:groups, read_specification:specification, limit, offset, unavailability_fields:names, progress_bar_fields:names, start_date, stop_date, scale',
    orderedBy: null,
  },
  hierarchy_read: {
    parameters:
      'domain:domain, specification:specification, parent_field:names, child_field:names, order:order',
    orderedBy: 'order',
  },
  search_panel_select_range: `${PANEL}, hierarchize:panel_parents`,
  search_panel_select_multi_range: `${PANEL}, hierarchize`,

  web_read: 'ids, specification:specification',
  web_search_read: {
    parameters:
      'domain:domain, specification/fields:page_specification, offset, limit, order:order, count_limit',
    orderedBy: 'order',
  },
  web_save: 'ids, vals:values, specification:specification, next_id',
  web_save_multi: 'ids, vals_list:values, specification:specification',
  web_resequence: {
    parameters: 'ids, specification:specification, field_name:names, offset',
    defaults: { field_name: 'sequence' },
  },
  onchange: 'ids, values:values, field_names/field_name:names, fields_spec/field_onchange:changes',
  get_property_definition: 'full_name:names',
  get_field_translations: 'ids, field_name:names, langs',
  update_field_translations: 'ids, field_name:names, translations, source_lang',

  create: 'vals_list/vals/values/values_list:values',
  write: 'ids, vals/values/data:values',
  update: 'ids, values:values',
  copy: 'ids, default/values:values',
  copy_data: { parameters: 'ids, default:values', returnsAll: true },
  unlink: 'ids',
  action_archive: { parameters: 'ids', always: ['active'] },
  action_unarchive: { parameters: 'ids', always: ['active'] },
  toggle_active: { parameters: 'ids', always: ['active'] },
  load: 'fields:loaded_columns, data',
  export_data: 'ids, fields_to_export:columns',

  mapped: 'ids, func:listed',
  filtered: 'ids, func:names',
  filtered_domain: 'ids, domain:domain',
  sorted: { parameters: 'ids, key:order, reverse', orderedBy: 'key' },

  get_avatar_card_data: 'ids, fields:shown',
  'hr.employee/get_barcodes_and_pin_hashed': { parameters: 'ids', always: ['barcode', 'pin'] },
  // The methods return ids of records that a domain finds.
  'mail.message/mark_all_as_read': 'domain:domain',
  'pos.order/search_paid_order_ids': 'config_id, domain:domain, limit, offset',

  message_post: 'ids, **',
  message_subscribe: 'ids, **',
  message_unsubscribe: 'ids, **',

  // The language and the time zone of the user of the call.
  'res.users/context_get': '',
  'res.users/has_group': 'ids, group_ext_id',
};

const METHODS: ReadonlyMap<string, FieldMethod> = new Map(
  Object.entries(TABLE).map(([name, row]) => [
    name,
    parseRow(typeof row === 'string' ? { parameters: row } : row),
  ]),
);

/**
 * Names of the methods in the table. If a row is for a single model, the name begins with it: `res.users/context_get`.
 */
export const FIELD_METHODS: readonly string[] = [...METHODS.keys()];

/** Undefined for a method that can name and return any field. */
export function findFieldMethod(model: string, method: string): FieldMethod | undefined {
  return METHODS.get(`${model}/${method}`) ?? METHODS.get(method);
}

function parseRow(row: Row): FieldMethod {
  const {
    parameters,
    always = [],
    defaults = {},
    context = [],
    returnsAll,
    orderedBy,
    recordsWith = null,
  } = row;
  const words = parameters === '' ? [] : parameters.split(', ');
  const star = words.indexOf('*');
  const list = words
    .filter((word) => word !== '*' && word !== '**')
    .map((word, index): FieldArgument => {
      const [names = '', form = 'free'] = word.split(':');
      const isPlaced = star === -1 || index < star;
      // field-methods.test.ts checks that each form of the table is in the type.
      return { names: names.split('/'), position: isPlaced ? index : null, form: form as FieldForm };
    });
  return {
    arguments: list,
    always,
    defaults,
    context,
    isOpen: words.includes('**'),
    records: orderedBy === undefined ? null : { argument: orderedBy, onlyWith: recordsWith },
    returnsAll: returnsAll === true,
  };
}
