/** Lists the ORM methods that have the same effect on records as the method of a call. Independent of policies. */
import { isEmptyArray } from '@erp-proxy/json';
import { type Arguments, findArgument, isLeftOut } from './arguments.ts';

/**
 * Methods that create, write or delete records of their own model, with the ORM methods that they are equivalent to. A
 * method that takes the values of the call as arguments is listed, also if it has another purpose.
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
  // Methods that change records of other models.
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
/** Fields that a method sets although it takes no values. */
const SET_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['action_archive', ['active']],
  ['action_unarchive', ['active']],
  ['toggle_active', ['active']],
  ['website_publish_button', ['is_published', 'website_published']],
]);
/** Named arguments of `action_set_lost` that are not values of the lead. */
const NO_VALUES: ReadonlySet<string> = new Set(['ids', 'context']);

/** The fields that the method sets in the records of the call, though no value of the call names them. */
export function listSetFields(method: string): readonly string[] {
  return SET_FIELDS.get(method) ?? [];
}

/**
 * The methods that have the same effect as a method: `create`, `write` and `unlink` of its own model, or for example
 * `mail.activity/create` of another model. `call` null: the arguments are not known.
 */
export function listEquivalents(method: string, call: Arguments | null): readonly string[] {
  const all = EQUIVALENTS.get(method) ?? (SETTERS.test(method) ? WRITE : []);
  if (call === null) return all;
  if (method === 'action_set_lost') return call.named.every(({ name }) => NO_VALUES.has(name)) ? [] : all;
  if (method !== 'web_save') return all;
  // `web_save` creates a record if it has no ids.
  const ids = findArgument(call, 0, 'ids');
  if (ids.every((each) => isLeftOut(each) || isEmptyArray(call.bytes, each))) return ['create'];
  return ids.every(({ kind }) => kind === 'array') && ids.length === 1 ? ['write'] : all;
}
