/**
 * Determines from the arguments of a read how many records it can return, and where its limit is. Positions are the
 * same in every version from 14 (docs/odoo-facts.md#parameters). Independent of policies.
 */
import {
  decodeString,
  isEmptyArray,
  isWrittenAt,
  type JsonSpan,
  readElements,
  readInteger,
  readMembers,
} from '@erp-proxy/json';
import { type Arguments, findArgument, isLeftOut } from './arguments.ts';
import { isExpandedGroup } from './expanded-groups.ts';
import { isGrouping, someGroupingText } from './grouping.ts';
import { isReadOnlyMethod } from './methods.ts';

export interface RecordCount {
  /**
   * Maximum number of records that the call can return. Null: all records. NaN: the argument is not a number of
   * records.
   */
  asked: number | null;
  /** True if a lower number can be requested without changing the meaning of the call. */
  canLower: boolean;
  /** True if `asked` counts the related records of a specification. */
  isOfSpecification?: true;
  /** What bounds a call that has no bound, worded as a request. */
  advice?: string;
}

/** What bounds the number of records that a read returns. */
type Bound =
  /** The method returns no records, or only counts them. */
  | 'none'
  /** The number of ids. They must not be cut, because the answer has one entry for each id. */
  | 'ids'
  /** The number of ids, which may be cut. */
  | 'ids_cut'
  /** The argument `limit`, which the call must name. It is not lowered: some methods return an error then. */
  | 'limit_named'
  /** The argument `limit`, with its position among the positional arguments and its default. */
  | { position: number; standard: number | null }
  /** nothing */
  | 'unbounded';

const BOUNDS: ReadonlyMap<string, Bound> = new Map<string, Bound>([
  ['read', 'ids_cut'],
  ['web_read', 'ids'],
  ['name_get', 'ids'],
  ['get_metadata', 'ids'],
  ['exists', 'ids'],
  ['get_external_id', 'ids'],
  ['get_xml_id', 'ids'],
  // Methods that return the records that they have changed.
  ['web_save', 'ids'],
  ['web_save_multi', 'ids'],
  ['web_resequence', 'ids'],
  ['export_data', 'ids'],
  // Methods that return some fields of each employee or user.
  ['get_avatar_card_data', 'ids'],
  ['get_barcodes_and_pin_hashed', 'ids'],
  // Returns some fields of each line of an order.
  ['read_converted', 'ids'],
  ['search', { position: 2, standard: null }],
  ['search_read', { position: 3, standard: null }],
  ['search_fetch', { position: 3, standard: null }],
  ['web_search_read', { position: 3, standard: null }],
  ['name_search', { position: 3, standard: 100 }],
  ['web_name_search', { position: 4, standard: 100 }],
  ['read_group', { position: 4, standard: null }],
  ['web_read_group', { position: 3, standard: null }],
  ['formatted_read_group', { position: 5, standard: null }],
  ['search_paid_order_ids', { position: 2, standard: null }],
  ['search_panel_select_range', 'limit_named'],
  ['search_panel_select_multi_range', 'limit_named'],
  // Methods that search by a text, a domain or their record. Their positions differ between models and versions.
  ['channel_fetch_message', 'limit_named'],
  ['get_activity_data', 'limit_named'],
  ['get_mention_suggestions', 'limit_named'],
  ['get_mention_suggestions_from_channel', 'limit_named'],
  ['get_sale_items_data', 'limit_named'],
  ['im_search', 'limit_named'],
  ['message_fetch', 'limit_named'],
  ['message_get_followers', 'limit_named'],
  ['recent_links', 'limit_named'],
  ['search_for_channel_invite', 'limit_named'],
  ['search_pages', 'limit_named'],
  ['formatted_read_grouping_sets', 'unbounded'],
  // Returns one entry for each value of a field that the call names.
  ['read_progress_bar', 'unbounded'],
  // Also returns the values of the lines that a copy would have.
  ['copy_data', 'unbounded'],
  // Methods that return all records that they find.
  ['channel_search_to_join', 'unbounded'],
  ['get_all_currencies', 'unbounded'],
  ['get_current_warehouses', 'unbounded'],
  ['get_filters', 'unbounded'],
  ['get_limited_partners_loading', 'unbounded'],
  ['get_locales_for_spreadsheet', 'unbounded'],
  ['get_new_partner', 'unbounded'],
  ['get_overtime_data', 'unbounded'],
  ['get_session_orders', 'unbounded'],
  ['get_warehouses', 'unbounded'],
  ['list_leaves', 'unbounded'],
  ['load_product_from_pos', 'unbounded'],
  ['load_self_data', 'unbounded'],
  ['read_config_open_orders', 'unbounded'],
  ['read_pos_orders', 'unbounded'],
  // Methods of the modules web_hierarchy and web_gantt.
  ['hierarchy_read', 'unbounded'],
  ['get_gantt_data', 'unbounded'],
  ['search_count', 'none'],
  ['get_views', 'none'],
  ['fields_get', 'none'],
  ['has_access', 'none'],
  ['check_access', 'none'],
  ['check_access_rights', 'none'],
  ['check_access_rule', 'none'],
  ['context_get', 'none'],
  ['has_group', 'none'],
]);

const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * Arguments with which `web_read_group` also returns the records of each group, beyond any limit. Up to 16, `expand`
 * can be positional.
 */
const UNFOLDING = ['expand', 'auto_unfold', 'opening_info', 'unfold_read_specification'];
const EXPAND_POSITION = 7;

/** Positions of arguments of `read_group`, and of `web_read_group` up to 18. */
const FIELDS_POSITION = 1;
const GROUPBY_POSITION = 2;
const LAZY_POSITION = 6;

/**
 * Reads in which Odoo ignores the limit (docs/odoo-facts.md#ignored-limits). `context`: only if the context has all of
 * these members. `model` absent: any model.
 */
const UNLIMITED: readonly { model?: string; methods: RegExp; context: readonly string[] }[] = [
  // Each period between the first and the last one is a group; `web_read_group` of 19 refuses a limit then.
  { methods: /^(web_)?read_group$/, context: ['fill_temporal'] },
  // The accounts that are usual for a partner, in 16 to 19.
  { model: 'account.account', methods: /name_search$/, context: ['partner_id', 'move_type'] },
  // The code of each account of the domain in each company, in 18 and 19.
  { model: 'account.code.mapping', methods: /search|^(web_|formatted_)?read_group$/, context: [] },
];
/** More members of a context count as any. */
const CONTEXT_MEMBERS_MAX = 1000;

/** Positions of the arguments of `web_save`. */
const VALUES_POSITION = 1;
const NEXT_POSITION = 3;

/** Aggregates with one value for each record of a group. */
const LISTING_AGGREGATES = [':array_agg', ':recordset'];

/**
 * Null if the method is not known to return records. An unknown read-only method can return all records. Ids are
 * counted up to `max` + 1.
 */
export function countRecords(
  model: string,
  method: string,
  call: Arguments,
  max: number,
): RecordCount | null {
  const bound = BOUNDS.get(method) ?? (isReadOnlyMethod(method, model) ? 'unbounded' : 'none');
  if (bound === 'none') return null;
  const context = findUnlimiting(model, method, call);
  if (context !== null) return { asked: null, canLower: false, ...adviseContext(context) };
  if (expandsGroups(model, method, call)) return { asked: null, canLower: false, advice: NOT_LAZY };
  const hasNoBound =
    bound === 'unbounded' ||
    isUnfolding(method, call) ||
    listsInGroups(method, call) ||
    (method === 'web_save' && savesList(call));
  if (hasNoBound) return { asked: null, canLower: false };
  if (bound === 'ids' || bound === 'ids_cut') {
    // `web_save` returns the records of `next_id` in place of its own.
    const next = method === 'web_save' ? findArgument(call, NEXT_POSITION, 'next_id') : [];
    const ids = [...findArgument(call, 0, 'ids'), ...next];
    const counts = ids.map((each) => countIds(call.bytes, each, max));
    return { asked: counts.reduce((sum, count) => sum + count, 0), canLower: bound === 'ids_cut' };
  }
  const [position, standard] = bound === 'limit_named' ? [null, null] : [bound.position, bound.standard];
  const limits = findArgument(call, position, 'limit').map((limit) => readLimit(call.bytes, limit));
  const asked = limits.length === 0 ? standard : findLargest(limits);
  return position === null ? { asked, canLower: false, advice: NAMED_LIMIT } : { asked, canLower: true };
}

const NOT_LAZY =
  'Odoo adds a group for each record to which the field can lead. Send `lazy: false`, or group by another field';
const NAMED_LIMIT = 'give a `limit` of at most that, by name';

function adviseContext([member]: readonly string[]): Pick<RecordCount, 'advice'> {
  return member === undefined ? {} : { advice: `leave \`${member}\` out of the context` };
}

/** Position of `limit` among the positional arguments of the method; null if it cannot be positional. */
export function findLimitPosition(method: string): number | null {
  const bound = BOUNDS.get(method);
  return typeof bound === 'object' ? bound.position : null;
}

/** Whether `web_save` creates several records, and returns them. */
function savesList(call: Arguments): boolean {
  return findArgument(call, VALUES_POSITION, 'vals').some(({ kind }) => kind === 'array');
}

/** The members of the context because of which Odoo ignores the limit; none: it always does. Null: it does not. */
function findUnlimiting(model: string, method: string, call: Arguments): readonly string[] | null {
  const found = UNLIMITED.find(
    (row) =>
      (row.model ?? model) === model &&
      row.methods.test(method) &&
      row.context.every((member) => hasContextMember(call, member)),
  );
  return found?.context ?? null;
}

/**
 * Whether a context of the call has the member. An empty object counts too. Python converts a list of pairs into an
 * object, with any members.
 */
function hasContextMember({ bytes, named }: Arguments, member: string): boolean {
  return named.some(({ name, value }) => {
    if (name !== 'context') return false;
    if (value.kind === 'array') return !isEmptyArray(bytes, value);
    if (value.kind !== 'object') return false;
    const members = readMembers(bytes, value, CONTEXT_MEMBERS_MAX + 1);
    if (members.length > CONTEXT_MEMBERS_MAX) return true;
    return members.some((each) => each.name === member && !isLeftOut(each.value));
  });
}

/**
 * Whether Odoo adds the groups of all records to which the field of the grouping can lead, beyond any limit: in lazy
 * groupings. `web_read_group` of 19 keeps to the limit, and takes no `fields`.
 */
function expandsGroups(model: string, method: string, call: Arguments): boolean {
  if (method !== 'read_group' && method !== 'web_read_group') return false;
  if (method === 'web_read_group' && findArgument(call, FIELDS_POSITION, 'fields').length === 0) return false;
  const lazy = findArgument(call, LAZY_POSITION, 'lazy');
  if (lazy.length > 0 && lazy.every(isLeftOut)) return false;
  return findArgument(call, GROUPBY_POSITION, 'groupby').some((groupby) => {
    let first = groupby;
    if (groupby.kind === 'array')
      readElements(call.bytes, groupby, (element) => {
        first = element;
        return false;
      });
    return first.kind === 'string' && isExpandedGroup(model, decodeString(call.bytes, first));
  });
}

function isUnfolding(method: string, { positional, named }: Arguments): boolean {
  if (method !== 'web_read_group') return false;
  const expand = positional[EXPAND_POSITION];
  const values = named.filter(({ name }) => UNFOLDING.includes(name)).map(({ value }) => value);
  return [...(expand ? [expand] : []), ...values].some(({ kind }) => kind !== 'null' && kind !== 'false');
}

/** Names of fields and aggregates have no escapes, so a string with an escape counts as a match. */
function listsInGroups(method: string, call: Arguments): boolean {
  const { bytes } = call;
  return (
    isGrouping(method) &&
    someGroupingText(call, (start, end) => {
      for (let at = start; at < end; at++) {
        if (bytes[at] === BACKSLASH) return true;
        if (bytes[at] === COLON && LISTING_AGGREGATES.some((word) => isWrittenAt(bytes, at, word)))
          return true;
      }
      return false;
    })
  );
}

function countIds(bytes: Uint8Array, ids: JsonSpan, max: number): number {
  if (isLeftOut(ids)) return 0;
  if (ids.kind === 'number') return 1;
  // Odoo would take the characters of a string, or the keys of an object, for ids.
  if (ids.kind !== 'array') return Number.NaN;
  let count = 0;
  readElements(bytes, ids, (id) => {
    count = id.kind === 'number' ? count + 1 : Number.NaN;
    return count <= max;
  });
  return count;
}

/** As in Odoo, 0, null and false mean no limit. */
function readLimit(bytes: Uint8Array, value: JsonSpan): number | null {
  if (isLeftOut(value)) return null;
  const limit = readInteger(bytes, value);
  if (limit === null || limit < 0) return Number.NaN;
  return limit === 0 || limit === 0n ? null : Number(limit);
}

function findLargest(limits: readonly (number | null)[]): number | null {
  if (limits.some(Number.isNaN)) return Number.NaN;
  const numbers = limits.filter((limit) => limit !== null);
  return numbers.length < limits.length ? null : Math.max(...numbers);
}
