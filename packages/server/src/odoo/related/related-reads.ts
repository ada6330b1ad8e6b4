/**
 * Whether a call reads fields of related records. Their models are not in the call: only Odoo knows them. What cannot be told
 * counts as found. Knows no policy; the arguments to look at are in related-arguments.ts.
 */
import { readMembers } from '../../json/members.ts';
import { skipWhiteSpace } from '../../json/scan.ts';
import { readKind, skipValue } from '../../json/skip.ts';
import type { JsonSpan } from '../../json/span.ts';
import { someMember, someName, someString } from '../../json/strings.ts';
import { type Arguments, findArgument, POSITIONAL_MAX } from '../arguments.ts';
import { isGrouping, someGroupingText } from '../grouping.ts';
import { SIGNATURES } from '../signatures/signatures.ts';
import { FIELD_ARGUMENTS, type FieldForm, listFieldArguments, NAMING_CONTEXT } from './related-arguments.ts';

/** `read` gives as much of a related record. */
const NAMING_FIELDS = new Set(['id', 'display_name']);

/** Whose display name a context can extend by fields. */
const NAMED_MODEL = 'res.partner';
/** They give no display name, whatever the context. */
const NAMELESS_METHODS: ReadonlySet<string> = new Set([
  'create',
  'write',
  'unlink',
  'copy',
  'search',
  'search_count',
]);

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** A call of a method of this model. */
export function readsRelated(model: string, method: string, call: Arguments): boolean {
  const { bytes } = call;
  if (isGrouping(method) && someGroupingText(call, (start, end) => isPath(bytes, start, end))) return true;
  // The names that such a context makes are those of partners: a call to their own model reads them anyway.
  if (model !== NAMED_MODEL && !NAMELESS_METHODS.has(method) && bringsNamingContext(method, call))
    return true;
  return someFieldArgument(method, call, (value, form) => {
    if (form === 'whole') return !isEmpty(bytes, value.start);
    if (form === 'paths') return somePath(bytes, value);
    return someMember(bytes, value, ['fields'], (at) => !isEmpty(bytes, at) && !isNaming(bytes, at));
  });
}

/** Whether a context stands among the fields: it holds for what is read there. */
export function bringsContext(method: string, call: Arguments): boolean {
  const { bytes } = call;
  return someFieldArgument(
    method,
    call,
    (value, form) => form !== 'paths' && someMember(bytes, value, ['context'], (at) => !isEmpty(bytes, at)),
  );
}

function bringsNamingContext(method: string, call: Arguments): boolean {
  const { bytes, named } = call;
  const test = (value: JsonSpan) => someMember(bytes, value, NAMING_MEMBERS, (at) => !isEmpty(bytes, at));
  const isPairs = ({ kind, start }: JsonSpan) => kind === 'array' && !isEmpty(bytes, start);
  if (named.some(({ name, value }) => name === 'context' && (isPairs(value) || test(value)))) return true;
  // Deep in an argument of an unknown method these words mean nothing.
  return (
    listFieldArguments(method).length > 0 &&
    someFieldArgument(method, call, (value, form) => form === 'specification' && test(value))
  );
}

/** Any argument of a method of which nothing is known can be a specification. */
function someFieldArgument(
  method: string,
  call: Arguments,
  test: (value: JsonSpan, form: FieldForm) => boolean,
): boolean {
  const ofMethod = listFieldArguments(method);
  if (ofMethod.length === 0 && !isGrouping(method) && !SIGNATURES.has(method)) {
    const others = call.named.filter(({ name }) => name !== 'context');
    return (
      call.positional.length === POSITIONAL_MAX ||
      call.positional.some((value) => test(value, 'specification')) ||
      others.some(({ value }) => test(value, 'specification'))
    );
  }
  return (
    ofMethod.some(({ name, position, form }) =>
      findArgument(call, position, name).some((value) => test(value, form)),
    ) || call.named.some(({ name, value }) => SPECIFICATION_NAMES.has(name) && test(value, 'specification'))
  );
}

/** They mean the same on every method, so that no override can take them unseen. */
const SPECIFICATION_NAMES: ReadonlySet<string> = new Set(
  FIELD_ARGUMENTS.filter(({ form }) => form === 'specification').map(({ name }) => name),
);
const NAMING_MEMBERS = [...NAMING_CONTEXT];

/** Names of members, elements of a list, or one text. */
function somePath(bytes: Uint8Array, value: JsonSpan): boolean {
  const test = (start: number, end: number) => isPath(bytes, start, end);
  return value.kind === 'object' ? someName(bytes, value, test) : someString(bytes, value, test);
}

/** No name of a field has an escape. */
function isPath(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] === DOT || bytes[at] === BACKSLASH) return true;
  }
  return false;
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
