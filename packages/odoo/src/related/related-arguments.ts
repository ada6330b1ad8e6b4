/**
 * The arguments with which a call can read fields of related records, as data. Every parameter of the recorded
 * signatures of Odoo 14 to 19 is classified: related-arguments.test.ts lists those that cannot read such fields.
 */

/** How an argument names fields of related records. */
export type RelatedForm =
  /** A nested object: `{"partner_id": {"fields": {"email": {}}, "context": {}}}` (docs/odoo-facts.md#parameters). */
  | 'specification'
  /** Member names, elements or one string, each a field name. A dot precedes a field of a related record. */
  | 'paths'
  /** Columns, like `paths`: a slash precedes a field of a related record, or its id (`partner_id/id`). */
  | 'columns'
  /** An object of specifications; each key is the text of a group. They always read related records. */
  | 'specifications'
  /** The argument always reads related records. */
  | 'whole';

export interface RelatedArgument {
  methods: readonly string[];
  name: string;
  /** Position among the positional arguments, including the ids of a record method; null: it is always named. */
  position: number | null;
  form: RelatedForm;
  /** Versions of Odoo whose methods have the argument. */
  versions: string;
  /** The signature or module of Odoo that shows how the argument works. */
  reason: string;
}

/** Grouping reads are not listed: every string in them can be a path (grouping.ts). */
export const RELATED_ARGUMENTS: readonly RelatedArgument[] = [
  {
    methods: ['onchange'],
    name: 'field_onchange',
    position: 3,
    form: 'paths',
    versions: '14 to 16',
    reason:
      'onchange(self, values, field_name, field_onchange): gives the lines of an x2many field, with these fields',
  },
  {
    methods: ['onchange'],
    name: 'fields_spec',
    position: 3,
    form: 'specification',
    versions: '17 to 19',
    reason: 'onchange(self, values, field_names, fields_spec): gives the fields that it names',
  },
  {
    methods: ['web_read'],
    name: 'specification',
    position: 1,
    form: 'specification',
    versions: '17 to 19',
    reason: 'web_read(self, specification)',
  },
  {
    methods: ['web_search_read'],
    name: 'specification',
    position: 1,
    form: 'specification',
    versions: '17 to 19',
    reason: 'web_search_read(domain, specification, …); a plain list of fields in 14 to 16',
  },
  {
    methods: ['web_save'],
    name: 'specification',
    position: 2,
    form: 'specification',
    versions: '17 to 19',
    reason: 'web_save(self, vals, specification, next_id=None)',
  },
  {
    methods: ['web_save_multi'],
    name: 'specification',
    position: 2,
    form: 'specification',
    versions: '19',
    reason: 'web_save_multi(self, vals_list, specification)',
  },
  {
    methods: ['web_name_search', 'web_resequence'],
    name: 'specification',
    position: 1,
    form: 'specification',
    versions: '19',
    reason: 'web_name_search(name, specification, …), web_resequence(self, specification, …)',
  },
  {
    methods: ['web_read_group'],
    name: 'unfold_read_specification',
    position: null,
    form: 'specification',
    versions: '19',
    reason: 'web_read_group(…, *, unfold_read_specification=None): of the records of a group',
  },
  {
    methods: ['web_read_group'],
    name: 'groupby_read_specification',
    position: null,
    form: 'specifications',
    versions: '19',
    reason:
      'web_read_group(…, *, groupby_read_specification=None): of the records that the grouping leads to',
  },
  {
    methods: ['search_panel_select_range', 'search_panel_select_multi_range'],
    name: 'group_by',
    position: null,
    form: 'whole',
    versions: '14 to 19',
    reason:
      'search_panel_select_multi_range(field_name, **kwargs): a field of the records that `field_name` leads to',
  },
  {
    methods: ['search_panel_select_range', 'search_panel_select_multi_range'],
    name: 'comodel_domain',
    position: null,
    form: 'whole',
    versions: '14 to 19',
    reason: 'search_panel_select_range(field_name, **kwargs): chooses among all records of the related model',
  },
  {
    methods: ['search_panel_select_range', 'search_panel_select_multi_range'],
    name: 'expand',
    position: null,
    form: 'whole',
    versions: '14 to 19',
    reason: 'search_panel_select_range(field_name, **kwargs): gives all records of the related model',
  },
  {
    methods: ['get_property_definition'],
    name: 'full_name',
    position: 0,
    form: 'paths',
    versions: '17 to 19',
    reason: 'get_property_definition(full_name): `properties.abc` reads the record that defines the property',
  },
  {
    methods: ['export_data'],
    name: 'fields_to_export',
    position: 1,
    form: 'columns',
    versions: '14 to 19',
    reason: 'export_data(self, fields_to_export): `partner_id/email`',
  },
  {
    methods: ['hierarchy_read'],
    name: 'specification',
    position: 1,
    form: 'specification',
    versions: '17 to 19',
    reason: 'hierarchy_read(domain, specification, parent_field, …) of web_hierarchy',
  },
  {
    methods: ['get_gantt_data'],
    name: 'read_specification',
    position: 2,
    form: 'specification',
    versions: '17 to 19',
    reason: 'get_gantt_data(domain, groupby, read_specification, …) of web_gantt',
  },
];

const BY_METHOD: ReadonlyMap<string, readonly RelatedArgument[]> = new Map(
  RELATED_ARGUMENTS.flatMap(({ methods }) => methods).map((method) => [
    method,
    RELATED_ARGUMENTS.filter(({ methods }) => methods.includes(method)),
  ]),
);
const NONE: readonly RelatedArgument[] = [];

export function listRelatedArguments(method: string): readonly RelatedArgument[] {
  return BY_METHOD.get(method) ?? NONE;
}
