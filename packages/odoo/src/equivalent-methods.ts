/**
 * Lists the ORM methods that have the same effect on records as the method of a call. Independent of policies.
 * written-methods-data.ts has the methods of Odoo Community that write values of their caller, by model.
 */
import { isEmptyArray, type JsonSpan } from '@erp-proxy/json';
import { type Arguments, findArgument, isLeftOut } from './arguments.ts';
import { isGrouping } from './grouping.ts';
import { findUnknown } from './known-methods.ts';
import { readTableLines } from './table-lines.ts';
import { WRITTEN_METHODS } from './written-methods-data.ts';

/**
 * Methods of the ORM, of mixins and of other modules, and those that take no values, with the ORM methods that they are
 * equivalent to.
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
  ['merge_opportunity', ['write', 'unlink']],
  ['create_and_get_website_url', ['create']],
  ['create_company', ['create']],
  ['action_duplicate', ['create']],
  ['website_publish_button', ['write']],
  ['create_from_template', ['create']],
  ['action_mass_archive', ['write']],
  ['action_mass_deletion', ['unlink']],
  ['action_unlink_event', ['unlink']],
  ['unlink_from_partner_id', ['unlink']],
  ['convert_answer_to_comment', ['unlink']],
  ['delete_opening_control_session', ['unlink']],
  ['save_new_custom_content', ['write']],
  // Methods that change records of other models.
  ['message_post', ['mail.message/create']],
  ['message_notify', ['mail.message/create']],
  ['message_post_with_view', ['mail.message/create']],
  ['message_post_with_template', ['mail.message/create']],
  ['message_post_with_source', ['mail.message/create']],
  ['message_mail_with_source', ['mail.message/create', 'mail.mail/create']],
  ['message_subscribe', ['mail.followers/create', 'mail.followers/write']],
  ['message_unsubscribe', ['mail.followers/unlink']],
  ['change_attendee_status', ['calendar.attendee/write']],
  ['unlink_w_meeting', ['unlink', 'calendar.event/unlink']],
  ['activity_schedule', ['mail.activity/create']],
  ['activity_schedule_with_view', ['mail.activity/create']],
  ['activity_reschedule', ['mail.activity/write']],
  ['activity_feedback', ['mail.activity/write', 'mail.activity/unlink']],
  ['activity_unlink', ['mail.activity/unlink']],
]);
/** `toggle_favorite`, `set_sequence_top`: methods that set a field of the record. */
const TOGGLES = /^(toggle|set_sequence)_/;
/** `action_set_priority`, `update_address`: methods that set fields if the call has further arguments. */
const SETTERS = /^(action_)?(set|update)_/;
/** Arguments that are values of records. */
const VALUES: ReadonlySet<string> = new Set(['vals', 'vals_list', 'values', 'additional_values']);
const WRITE: readonly string[] = ['write'];
/** Fields that a method sets although it takes no values. */
const SET_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['action_archive', ['active']],
  ['action_unarchive', ['active']],
  ['toggle_active', ['active']],
  ['website_publish_button', ['is_published', 'website_published']],
]);
/** Named arguments that are no values. */
const NO_VALUES: ReadonlySet<string> = new Set(['ids', 'context']);
const ANY_VALUES: readonly string[] = ['create', 'write'];

/** The fields that the method sets in the records of the call, though no value of the call names them. */
export function listSetFields(method: string): readonly string[] {
  return SET_FIELDS.get(method) ?? [];
}

/**
 * The methods that have the same effect as a method: `create`, `write` and `unlink` of its own model, or for example
 * `mail.activity/create` of another model. `call` null: the arguments are not known.
 */
export function listEquivalents(model: string, method: string, call: Arguments | null): readonly string[] {
  const all = [
    ...(EQUIVALENTS.get(method) ?? (TOGGLES.test(method) ? WRITE : [])),
    ...listOfTable(model, method, call),
  ];
  if (all.length === 0) return call === null ? [] : listByArguments(model, method, call);
  if (call === null || method !== 'web_save') return all;
  // `web_save` creates a record if it has no ids.
  const ids = findArgument(call, 0, 'ids');
  if (ids.every((each) => isLeftOut(each) || isEmptyArray(call.bytes, each))) return ['create'];
  return ids.every(({ kind }) => kind === 'array') && ids.length === 1 ? ['write'] : all;
}

function listOfTable(model: string, method: string, call: Arguments | null): readonly string[] {
  lines ??= readLines();
  const row = lines.get(`${model} ${method}`);
  if (row === undefined || (row.isOptional && call !== null && !hasValues(call))) return [];
  return row.methods;
}

/** What the arguments tell about a method that is in no table. */
function listByArguments(model: string, method: string, call: Arguments): readonly string[] {
  if (SETTERS.test(method) && hasValues(call)) return WRITE;
  if (isGrouping(method) || findUnknown(model, method) === null) return [];
  const canHaveValues =
    call.positional.some((value) => hasObject(call, value)) ||
    call.named.some(({ name, value }) =>
      VALUES.has(name) ? !isLeftOut(value) : !NO_VALUES.has(name) && hasObject(call, value),
    );
  return canHaveValues ? ANY_VALUES : [];
}

const BRACE = 0x7b;

/** Whether the value is an object, or a list that contains one at any depth. A text with a brace counts too. */
function hasObject({ bytes }: Arguments, { kind, start, end }: JsonSpan): boolean {
  return kind === 'object' || (kind === 'array' && bytes.subarray(start, end).includes(BRACE));
}

/** Whether the call has arguments besides the ids of its records. */
function hasValues({ positional, named }: Arguments): boolean {
  return positional.length > 1 || named.some(({ name }) => !NO_VALUES.has(name));
}

interface Row {
  methods: readonly string[];
  /** The method writes only values that a call can leave out. */
  isOptional: boolean;
}

/** By model and method. The size of the data bounds it. */
let lines: ReadonlyMap<string, Row> | null = null;

function readLines(): Map<string, Row> {
  const found = new Map<string, Row>();
  for (const { name: model, words } of readTableLines(WRITTEN_METHODS)) {
    for (const word of words) {
      const [name = '', methods = ''] = word.split('=');
      const isOptional = name.endsWith('?');
      found.set(`${model} ${name.replace('?', '')}`, { methods: methods.split(','), isOptional });
    }
  }
  return found;
}
