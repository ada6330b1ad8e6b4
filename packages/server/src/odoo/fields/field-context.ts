/** Members of a context that use fields, as data. Contains no decisions. */

export interface ContextFields {
  member: string;
  /** The model of the fields; null: any model. */
  model: string | null;
  fields: readonly string[];
  /** The only value that uses them; undefined: any but an empty one. */
  value?: false;
}

const ADDRESS = ['street', 'street2', 'zip', 'city', 'state_id', 'country_id'];

export const CONTEXT_FIELDS: readonly ContextFields[] = [
  // Added to the display name of a partner (`_get_name`, `_compute_display_name`), in 14 to 19.
  { member: 'show_address', model: 'res.partner', fields: ADDRESS },
  { member: 'show_address_only', model: 'res.partner', fields: ADDRESS },
  { member: 'show_email', model: 'res.partner', fields: ['email'] },
  { member: 'show_vat', model: 'res.partner', fields: ['vat'] },
  // Comparing both answers would tell the value of `active`.
  { member: 'active_test', model: null, fields: ['active'], value: false },
];

/** A member with one of these beginnings names a field after it. `any`: of any model. */
export const CONTEXT_PREFIXES: readonly { prefix: string; any: boolean }[] = [
  // Also the default of records that are created in related models.
  { prefix: 'default_', any: true },
  { prefix: 'search_default_', any: false },
];

/** Members whose value names fields to group by. */
export const CONTEXT_GROUPS: ReadonlySet<string> = new Set(['group_by']);
