/** Which methods of the ORM have the same effect on the records of a call as its own method. Knows no policy. */
import { isEmptyArray } from '@erp-proxy/json';
import { type Arguments, findArgument, isLeftOut } from './arguments.ts';

/**
 * The methods of other names that create, write and delete records of their own model. A method with the values of a
 * call in its arguments is one of them, also if it has another purpose.
 */
const EQUIVALENTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['copy', ['create']],
  ['name_create', ['create']],
  ['load', ['create', 'write']],
  ['web_save', ['create', 'write']],
  ['web_save_multi', ['write']],
  ['web_resequence', ['write']],
  ['action_archive', ['write']],
  ['action_unarchive', ['write']],
  ['toggle_active', ['write']],
  ['update_field_translations', ['write']],
  ['web_override_translations', ['write']],
  ['action_set_lost', ['write']],
  ['convert_opportunity', ['write']],
  ['merge_opportunity', ['write', 'unlink']],
  ['create_and_get_website_url', ['create']],
  ['find_or_create', ['create']],
  ['create_company', ['create']],
  ['create_or_replace', ['create', 'write']],
  ['create_filter', ['create', 'write']],
  ['action_duplicate', ['create']],
  ['website_publish_button', ['write']],
  ['channel_rename', ['write']],
  ['channel_change_description', ['write']],
  ['rename_floor', ['write']],
  // Methods of other models.
  ['create_product_variant', ['product.product/create']],
  ['create_product_variant_from_pos', ['product.product/create']],
  ['activity_schedule', ['mail.activity/create']],
  ['activity_reschedule', ['mail.activity/write']],
  ['activity_feedback', ['mail.activity/write', 'mail.activity/unlink']],
  ['activity_unlink', ['mail.activity/unlink']],
]);
/** `toggle_favorite`, `set_sequence_top`: methods that set a field of the record. */
const SETTERS = /^(toggle|set_sequence)_/;
const WRITE: readonly string[] = ['write'];
/** What Odoo sets by a method without values. */
const SET_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['action_archive', ['active']],
  ['action_unarchive', ['active']],
  ['toggle_active', ['active']],
  ['website_publish_button', ['is_published', 'website_published']],
]);
/** Named arguments of `action_set_lost` that are not values of the lead. */
const NO_VALUES: ReadonlySet<string> = new Set(['ids', 'context']);

/** The fields of its records that the method sets, though no value of the call names them. */
export function listSetFields(method: string): readonly string[] {
  return SET_FIELDS.get(method) ?? [];
}

/**
 * `create`, `write` and `unlink`, as far as the method does the same: `write`, or `mail.activity/create` for another
 * model. `call` null: the arguments are not known.
 */
export function listEquivalents(method: string, call: Arguments | null): readonly string[] {
  const all = EQUIVALENTS.get(method) ?? (SETTERS.test(method) ? WRITE : []);
  if (call === null) return all;
  if (method === 'action_set_lost') return call.named.every(({ name }) => NO_VALUES.has(name)) ? [] : all;
  if (method !== 'web_save') return all;
  // It creates a record if it has no ids.
  const ids = findArgument(call, 0, 'ids');
  if (ids.every((each) => isLeftOut(each) || isEmptyArray(call.bytes, each))) return ['create'];
  return ids.every(({ kind }) => kind === 'array') && ids.length === 1 ? ['write'] : all;
}
