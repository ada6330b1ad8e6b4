/**
 * Whether a call reads fields of related records, by way of its own ones: their models are not in the call, and only Odoo
 * knows them. What cannot be told counts as found. Knows no policy.
 */
import { readMembers } from '../json/members.ts';
import { skipWhiteSpace } from '../json/scan.ts';
import { readKind, skipValue } from '../json/skip.ts';
import type { JsonSpan } from '../json/span.ts';
import { someMember } from '../json/strings.ts';
import { type Arguments, POSITIONAL_MAX } from './arguments.ts';
import { isGrouping, someGroupingText } from './grouping.ts';
import { SIGNATURES } from './signatures.ts';

/** Where a `specification` stands: `{"partner_id": {"fields": {"email": {}}, "context": {}}}` (FACTS 6.3). */
const SPECIFICATION_POSITIONS: ReadonlyMap<string, number> = new Map([
  ['web_read', 1],
  ['web_search_read', 1],
  ['web_name_search', 1],
  ['web_resequence', 1],
  ['web_save', 2],
  ['web_save_multi', 2],
  ['onchange', 3],
  // Of the modules web_hierarchy and web_gantt.
  ['hierarchy_read', 1],
  ['get_gantt_data', 2],
]);
/** Of the records that a grouping leads to, from its first level on. */
const GROUP_SPECIFICATION = 'groupby_read_specification';
const SPECIFICATIONS = new Set([
  'specification',
  'fields_spec',
  'read_specification',
  'unfold_read_specification',
  GROUP_SPECIFICATION,
]);

/** Of the search panel, which lists the records that a field leads to; each of these gives more than their names. */
const PANEL_METHODS = new Set(['search_panel_select_range', 'search_panel_select_multi_range']);
const PANEL_ARGUMENTS = ['group_by', 'comodel_domain', 'expand'];

/** `read` gives as much of a related record. */
const NAMING_FIELDS = new Set(['id', 'display_name']);

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

export function readsRelated(method: string, call: Arguments): boolean {
  const { bytes } = call;
  if (isGiven(call, GROUP_SPECIFICATION)) return true;
  if (PANEL_METHODS.has(method) && PANEL_ARGUMENTS.some((name) => isGiven(call, name))) return true;
  if (isGrouping(method) && someGroupingText(call, (start, end) => isPath(bytes, start, end))) return true;
  return someSpecification(method, call, (value) =>
    someMember(bytes, value, 'fields', (at) => !isEmpty(bytes, at) && !isNaming(bytes, at)),
  );
}

/** Whether a context stands among the fields: it holds for what is read there. */
export function bringsContext(method: string, call: Arguments): boolean {
  const { bytes } = call;
  return someSpecification(method, call, (value) =>
    someMember(bytes, value, 'context', (at) => !isEmpty(bytes, at)),
  );
}

/** Any argument of a method of which nothing is known can hold one. */
function someSpecification(method: string, call: Arguments, test: (value: JsonSpan) => boolean): boolean {
  const position = SPECIFICATION_POSITIONS.get(method);
  const isKnown = position !== undefined || isGrouping(method) || SIGNATURES.has(method);
  if (!isKnown) {
    const others = call.named.filter(({ name }) => name !== 'context');
    return (
      call.positional.length === POSITIONAL_MAX ||
      call.positional.some(test) ||
      others.some(({ value }) => test(value))
    );
  }
  const placed = position === undefined ? undefined : call.positional[position];
  if (placed !== undefined && test(placed)) return true;
  return call.named.some(({ name, value }) => SPECIFICATIONS.has(name) && test(value));
}

/** No name of a field has an escape. */
function isPath(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] === DOT || bytes[at] === BACKSLASH) return true;
  }
  return false;
}

function isGiven({ bytes, named }: Arguments, name: string): boolean {
  return named.some((member) => member.name === name && !isEmpty(bytes, member.value.start));
}

/** Null, false, or without any member or element; PHP prints `[]` for `{}`. */
function isEmpty(bytes: Uint8Array, at: number): boolean {
  const kind = readKind(bytes, at);
  if (kind !== 'object' && kind !== 'array') return kind === 'null' || kind === 'false';
  const inner = skipWhiteSpace(bytes, at + 1, bytes.length);
  return bytes[inner] === (kind === 'object' ? CLOSE_OBJECT : CLOSE_ARRAY);
}

/** Whether these are fields that only name a record. A list can be of pairs, which Odoo makes an object of, with any names. */
function isNaming(bytes: Uint8Array, at: number): boolean {
  if (readKind(bytes, at) !== 'object') return false;
  const object: JsonSpan = { kind: 'object', start: at, end: skipValue(bytes, at) };
  const members = readMembers(bytes, object, NAMING_FIELDS.size + 1);
  return (
    members.length <= NAMING_FIELDS.size &&
    members.every(({ name, value }) => NAMING_FIELDS.has(name) && isEmpty(bytes, value.start))
  );
}
