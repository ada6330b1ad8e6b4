/**
 * Decides whether a call reads records of other models: views, names of partners with their fields, and fields of
 * related records, whose models only Odoo knows. If it cannot be determined, the answer is yes. Independent of
 * policies; related-arguments.ts lists the arguments to check.
 */
import {
  isWrittenAt,
  type JsonSpan,
  readKind,
  readMembers,
  skipValue,
  skipWhiteSpace,
  someMember,
  someName,
  someString,
} from '@erp-proxy/json';
import { type Arguments, findArgument, POSITIONAL_MAX } from '../arguments.ts';
import { CONTEXT_FIELDS } from '../fields/field-context.ts';
import { type FieldMethod, findFieldMethod } from '../fields/field-methods.ts';
import { isGrouping, someGroupingText } from '../grouping.ts';
import { findContextEffects, listEffectsOfReads } from '../sensitive/context-effects.ts';
import { SIGNATURES } from '../signatures/signatures.ts';
import { findNamedView, VIEWS } from './named-views.ts';
import { listRelatedArguments, RELATED_ARGUMENTS, type RelatedForm } from './related-arguments.ts';
import type { RelatedWrite } from './related-findings.ts';

const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** The fields of a related record that a plain `read` returns as well. */
const NAMING_FIELDS = new Set(['id', 'display_name']);

/**
 * Members of a context with which display names show more fields of a model. A many2one field shows the name of its
 * record in any case. Rows for `deny` alone have members that calls of other models use too.
 */
const NAMING_CONTEXT: readonly { member: string; model: string }[] = CONTEXT_FIELDS.flatMap(
  ({ member, model, fields, onlyDeny, isOrder }) =>
    model === null || onlyDeny || isOrder || fields.every((field) => field === 'name')
      ? []
      : [{ member, model }],
);
/** Methods that return no display names, whatever the context. */
const NAMELESS_METHODS: ReadonlySet<string> = new Set([
  'create',
  'write',
  'unlink',
  'copy',
  'search',
  'search_count',
]);

const DOT = 0x2e;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** What a call reads of records of other models. */
export type RelatedRead =
  /** Fields of records whose models only Odoo knows. */
  | 'fields'
  /** Records of `model`; `named` describes what in the call reads them. */
  | { model: string; named: string };

/**
 * The first read of records of other models that is not allowed; null if there is none. `mayRead` null: any model may
 * be read. In other cases, the fields that field-uses.ts lists are checked by check-paths.ts, not here.
 */
export function findRelatedRead(
  model: string,
  method: string,
  call: Arguments,
  mayRead: ((model: string) => boolean) | null,
): RelatedRead | null {
  const isReadable = (other: string) => other === model || mayRead === null || mayRead(other);
  const view = isReadable(VIEWS) ? null : findNamedView(method, call);
  if (view !== null) return { model: VIEWS, named: view };
  const naming = NAMELESS_METHODS.has(method)
    ? undefined
    : findNaming(
        NAMING_CONTEXT.filter((row) => !isReadable(row.model)),
        method,
        call,
      );
  if (naming !== undefined)
    return { model: naming.model, named: `The member \`${naming.member}\` of the context` };
  const listed = mayRead === null ? undefined : findFieldMethod(model, method);
  const reads = listed === undefined ? readsFields(method, call) : readsUnlisted(listed, call);
  return reads ? 'fields' : null;
}

/** Whether the call reads fields of related records, whatever their model. */
function readsFields(method: string, call: Arguments): boolean {
  const { bytes } = call;
  if (isGrouping(method) && someGroupingText(call, (start, end) => isPath(bytes, start, end))) return true;
  return someRelatedArgument(method, call, (value, form) => {
    if (form === 'whole' || form === 'specifications') return !isEmpty(bytes, value.start);
    if (form === 'paths' || form === 'columns') return hasPath(bytes, value, form);
    return readsBySpecification(bytes, value);
  });
}

/** Whether an argument that the method is not known to have is a specification that reads fields. */
function readsUnlisted({ arguments: list }: FieldMethod, { bytes, named }: Arguments): boolean {
  return named.some(
    ({ name, value }) =>
      SPECIFICATION_NAMES.has(name) &&
      !list.some(({ names }) => names.includes(name)) &&
      readsBySpecification(bytes, value),
  );
}

function readsBySpecification(bytes: Uint8Array, value: JsonSpan): boolean {
  return someMember(bytes, value, ['fields'], (at) => !isEmpty(bytes, at) && !isNaming(bytes, at));
}

/** Whether a specification contains a context, which applies to the fields that are read there. */
export function bringsContext(method: string, call: Arguments): boolean {
  const { bytes } = call;
  return someRelatedArgument(
    method,
    call,
    (value, form) =>
      form !== 'paths' &&
      form !== 'columns' &&
      someMember(bytes, value, ['context'], (at) => !isEmpty(bytes, at)),
  );
}

/** What Odoo does besides reading because of the context of a call that reads, also of one within a specification. */
export function listReadEffects(method: string, call: Arguments): RelatedWrite[] {
  return listEffectsOfReads()
    .filter((member) => bringsMember([member], method, call))
    .flatMap((member) => findContextEffects(member).map((effect) => ({ member, ...effect })));
}

/** The first of these members of a context that the call has. */
function findNaming(rows: typeof NAMING_CONTEXT, method: string, call: Arguments) {
  const members = [...new Set(rows.map(({ member }) => member))];
  if (members.length === 0 || !bringsMember(members, method, call)) return undefined;
  return rows.find(({ member }) => bringsMember([member], method, call));
}

function bringsMember(members: readonly string[], method: string, call: Arguments): boolean {
  const { bytes, named } = call;
  const test = (at: number): boolean => {
    const context: JsonSpan = { kind: readKind(bytes, at), start: at, end: skipValue(bytes, at) };
    return hasPairs(bytes, context) || someMember(bytes, context, members, (value) => !isEmpty(bytes, value));
  };
  if (named.some(({ name, value }) => name === 'context' && test(value.start))) return true;
  // Deep inside an argument of an unknown method, these names have no meaning.
  return (
    listRelatedArguments(method).length > 0 &&
    someRelatedArgument(
      method,
      call,
      (value, form) => form === 'specification' && someMember(bytes, value, ['context'], test),
    )
  );
}

/** Whether Python could convert a list into an object: a list of lists or objects. Other lists make Odoo fail. */
function hasPairs(bytes: Uint8Array, { kind, start, end }: JsonSpan): boolean {
  const inner = bytes.subarray(start + 1, end);
  return kind === 'array' && (inner.includes(OPEN_ARRAY) || inner.includes(OPEN_OBJECT));
}

/** Any argument of an unknown method can be a specification. */
function someRelatedArgument(
  method: string,
  call: Arguments,
  test: (value: JsonSpan, form: RelatedForm) => boolean,
): boolean {
  const ofMethod = listRelatedArguments(method);
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

/** These arguments have the same meaning for every method, so an override cannot use them for something else. */
const SPECIFICATION_NAMES: ReadonlySet<string> = new Set(
  RELATED_ARGUMENTS.filter(({ form }) => form === 'specification').map(({ name }) => name),
);

/** Whether member names, elements of a list, or one string lead to a field of a related record. */
export function hasPath(bytes: Uint8Array, value: JsonSpan, form: 'paths' | 'columns'): boolean {
  const isOfForm = form === 'paths' ? isPath : isColumnPath;
  const test = (start: number, end: number) => isOfForm(bytes, start, end);
  return value.kind === 'object' ? someName(bytes, value, test) : someString(bytes, value, test);
}

/** The endings of columns that hold the id of a record or its external id, which are no fields of the record. */
const COLUMNS_OF_IDS = ['/.id"', '/id"', '".id"'];

/** A slash precedes a field of a related record, and a dot a property or an id. */
function isColumnPath(bytes: Uint8Array, start: number, end: number): boolean {
  const ending = COLUMNS_OF_IDS.find(
    (text) => end - start >= text.length && isWrittenAt(bytes, end - text.length, text),
  );
  const last = end - (ending?.length ?? 0);
  return isPath(bytes, start, last) || bytes.subarray(start, last).includes(SLASH);
}

/** Names of fields contain no escapes. */
function isPath(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] === DOT || bytes[at] === BACKSLASH) return true;
  }
  return false;
}

/** Null, false, an empty object, or an empty list: PHP prints `[]` for `{}`. */
function isEmpty(bytes: Uint8Array, at: number): boolean {
  const kind = readKind(bytes, at);
  if (kind !== 'object' && kind !== 'array') return kind === 'null' || kind === 'false';
  const inner = skipWhiteSpace(bytes, at + 1, bytes.length);
  return bytes[inner] === (kind === 'object' ? CLOSE_OBJECT : CLOSE_ARRAY);
}

/**
 * Whether these fields only name a record. A list can consist of pairs, which Odoo converts into an object with any
 * names.
 */
function isNaming(bytes: Uint8Array, at: number): boolean {
  if (readKind(bytes, at) !== 'object') return false;
  const object: JsonSpan = { kind: 'object', start: at, end: skipValue(bytes, at) };
  const members = readMembers(bytes, object, NAMING_FIELDS.size + 1);
  return (
    members.length <= NAMING_FIELDS.size &&
    members.every(({ name, value }) => NAMING_FIELDS.has(name) && isEmpty(bytes, value.start))
  );
}
