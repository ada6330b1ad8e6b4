/**
 * Finds mistakes in the arguments of a call that every version of Odoo rejects, each in a different place and with a
 * different exception. Used only after Odoo has refused the call, so that errors about rights and credentials take
 * precedence.
 */

import type { BusinessErrorType } from '@erp-proxy/contract';
import { clipText } from '@erp-proxy/contract';
import { decodeString, type JsonSpan, readElements, readInteger, readMembers } from '@erp-proxy/json';
import { type Arguments, findArgument } from '../arguments.ts';
import { findSignature } from '../signatures/signatures.ts';

export interface CallMistake {
  type: BusinessErrorType;
  /** Advice for the caller. */
  text: string;
  /** False if the arguments are a mistake only for certain types of field. */
  isCertain: boolean;
}

/** `unknownKey` is the name of the field that Odoo did not find. */
export function findCallMistake(
  model: string,
  method: string,
  call: Arguments,
  unknownKey: string | null,
): CallMistake | null {
  const { bytes } = call;
  const domain = findDomain(method, call);
  const wrongDomain = domain === null ? null : checkDomain(bytes, domain, TOLERANT.has(method));
  if (wrongDomain !== null) return { type: 'query_invalid', text: wrongDomain, isCertain: true };
  if (findSignature(model, method)?.kind === 'ids') {
    const ids = call.positional[0];
    if (ids !== undefined && !mayBeIds(bytes, ids))
      return { type: 'arguments_invalid', text: IDS_ADVICE, isCertain: true };
    if (hasFlatIds(call)) return { type: 'arguments_invalid', text: FLAT_IDS_ADVICE, isCertain: true };
  }
  const fields = findFields(method, call);
  if (fields !== null && isNoList(bytes, fields))
    return { type: 'query_invalid', text: FIELDS_ADVICE, isCertain: true };
  return checkValues(method, call, unknownKey);
}

/** The position of the domain among the arguments of a method, in every version from 14. */
const DOMAIN_POSITIONS: ReadonlyMap<string, number> = new Map([
  ['search', 0],
  ['search_count', 0],
  ['search_read', 0],
  ['search_fetch', 0],
  ['web_search_read', 0],
  ['read_group', 0],
  ['web_read_group', 0],
  ['formatted_read_group', 0],
  ['formatted_read_grouping_sets', 0],
  ['read_progress_bar', 0],
  ['name_search', 1],
  ['web_name_search', 2],
]);
/** These methods accept any value that is false in Python as an empty domain. */
const TOLERANT: ReadonlySet<string> = new Set(['search_read', 'name_search', 'web_name_search']);

/** Whether the method searches with a domain of the caller. */
export function takesDomain(method: string): boolean {
  return DOMAIN_POSITIONS.has(method);
}

function findDomain(method: string, call: Arguments): JsonSpan | null {
  const position = DOMAIN_POSITIONS.get(method);
  if (position === undefined) return null;
  // `args` is the name of the parameter in older versions (docs/odoo-facts.md#domain-by-name).
  const [domain] = [...findArgument(call, position, 'domain'), ...findArgument(call, null, 'args')];
  return domain ?? null;
}

/** The position of the names of fields among the arguments of a method, in every version from 14. */
const FIELDS_POSITIONS: ReadonlyMap<string, number | null> = new Map([
  ['read', 1],
  ['search_read', 1],
  ['search_fetch', 1],
  ['read_group', 1],
  // From 17 on, `web_search_read` takes a specification at this position.
  ['web_search_read', null],
]);

function findFields(method: string, call: Arguments): JsonSpan | null {
  const position = FIELDS_POSITIONS.get(method);
  if (position === undefined) return null;
  const [fields] = [...findArgument(call, position, 'fields'), ...findArgument(call, null, 'field_names')];
  return fields ?? null;
}

/** True if the value is no list of names. Odoo takes each letter of a text as a name. */
function isNoList(bytes: Uint8Array, fields: JsonSpan): boolean {
  return fields.kind !== 'array' && fields.kind !== 'object' && !isFalse(bytes, fields);
}

const FIELDS_ADVICE = '`fields` must be a list of the names of fields, e.g. `["name", "email"]`.';
const SHAPE = 'a domain is a list of conditions, each a list of a field, an operator and a value';
const DOMAIN_ADVICE = `The domain is malformed: ${SHAPE}, e.g. \`[["email", "=", "x"]]\`.`;
const UNWRAPPED_ADVICE = `The domain is malformed: ${SHAPE}. A single condition needs one more pair of brackets: in \`params\` \`[[["email", "=", "x"]]]\`.`;
const NESTED_ADVICE = `The domain is malformed: ${SHAPE}. A condition has one pair of brackets too many.`;
const IDS_ADVICE = 'The ids are invalid: `params[0]` must be an id or a list of ids, e.g. `[[1, 2]]`.';
const FLAT_IDS_ADVICE =
  'The ids are invalid: all of them belong in one list, the first element of `params`, e.g. `[[9, 10]]` and not `[9, 10]`.';
const CREATE_ADVICE =
  'The values are invalid: `create` takes an object of field values, or a list of them, e.g. `[{"name": "x"}]`.';
const WRITE_ADVICE =
  'The values are invalid: `write` takes the ids and an object of field values, e.g. `[[1], {"name": "x"}]`.';

/** Maximum number of conditions that are checked. Realistic domains have far fewer, but a body can hold millions. */
const CONDITIONS_MAX = 1_000;

/** Describes the mistake in a domain; null if some version may accept the domain. */
function checkDomain(bytes: Uint8Array, domain: JsonSpan, isTolerant: boolean): string | null {
  if (domain.kind !== 'array') {
    const isTaken = isTolerant && isFalse(bytes, domain);
    return isTaken || domain.kind === 'true' || domain.kind === 'false' ? null : DOMAIN_ADVICE;
  }
  let fault: string | null = null;
  let count = 0;
  readElements(bytes, domain, (item) => {
    fault = checkItem(bytes, item);
    return fault === null && ++count < CONDITIONS_MAX;
  });
  return fault;
}

function checkItem(bytes: Uint8Array, item: JsonSpan): string | null {
  if (item.kind === 'string') return isDomainOperator(bytes, item) ? null : UNWRAPPED_ADVICE;
  if (item.kind !== 'array') return DOMAIN_ADVICE;
  const parts: JsonSpan[] = [];
  readElements(bytes, item, (part) => {
    parts.push(part);
    return parts.length < 4;
  });
  const [field, operator] = parts;
  if (field?.kind === 'array') return NESTED_ADVICE;
  const isCondition = parts.length === 3 && NAMING.has(field!.kind) && operator!.kind === 'string';
  return isCondition ? null : DOMAIN_ADVICE;
}

/** A condition may begin with a number: `[1, "=", 1]`. */
const NAMING: ReadonlySet<string> = new Set(['string', 'number']);
const DOMAIN_OPERATORS: ReadonlySet<string> = new Set(['&', '|', '!']);
/** Length of the longest operator, with its quotes and with every character escaped. */
const OPERATOR_BYTES_MAX = 8;

function isDomainOperator(bytes: Uint8Array, item: JsonSpan): boolean {
  return item.end - item.start <= OPERATOR_BYTES_MAX && DOMAIN_OPERATORS.has(decodeString(bytes, item));
}

/** Whether Python treats the value as false. */
function isFalse(bytes: Uint8Array, { kind, start, end }: JsonSpan): boolean {
  if (kind === 'null' || kind === 'false') return true;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  return end - start < 100 && /^(\{\s*\}|""|-?0+(\.0*)?)$/.test(text.toString('latin1'));
}

/** Strings and null pass: some versions of Odoo take them and find no record. */
function mayBeIds(bytes: Uint8Array, ids: JsonSpan): boolean {
  if (ids.kind === 'object') return false;
  if (ids.kind !== 'array') return true;
  let mayBe = true;
  readElements(bytes, ids, ({ kind }) => {
    mayBe = kind !== 'array' && kind !== 'object';
    return mayBe;
  });
  return mayBe;
}

/** Whether ids are listed one by one in `params`: no method of records takes only numbers after its ids. */
function hasFlatIds({ positional }: Arguments): boolean {
  return positional.length > 1 && positional.every(({ kind }) => kind === 'number');
}

function checkValues(method: string, call: Arguments, unknownKey: string | null): CallMistake | null {
  if (method !== 'create' && method !== 'write') return null;
  const [given] = method === 'create' ? findArgument(call, 0, 'vals_list') : findArgument(call, 1, 'vals');
  if (given === undefined) return null;
  const text = method === 'create' ? CREATE_ADVICE : WRITE_ADVICE;
  const rows =
    method === 'create' && given.kind === 'array' ? readAtMost(call.bytes, given, ROWS_MAX) : [given];
  if (rows.some(({ kind }) => kind !== 'object')) return { type: 'arguments_invalid', text, isCertain: true };
  return rows.map((row) => checkRow(call.bytes, row, unknownKey)).find((mistake) => mistake !== null) ?? null;
}

/** Rows that are checked: enough to find a mistake that all rows have. */
const ROWS_MAX = 100;
const MEMBERS_MAX = 1_000;

function readAtMost(bytes: Uint8Array, list: JsonSpan, max: number): JsonSpan[] {
  const elements: JsonSpan[] = [];
  readElements(bytes, list, (element) => {
    elements.push(element);
    return elements.length < max;
  });
  return elements;
}

function checkRow(bytes: Uint8Array, row: JsonSpan, unknownKey: string | null): CallMistake | null {
  const members = readMembers(bytes, row, MEMBERS_MAX);
  const unknown = members.find(({ name }) => name === unknownKey);
  if (unknown !== undefined)
    return { type: 'query_invalid', text: `Invalid field '${cut(unknown.name)}'.`, isCertain: true };
  const wrong = members.find(({ value }) => isNoRelation(bytes, value));
  if (wrong === undefined) return null;
  return {
    type: 'arguments_invalid',
    isCertain: false,
    text: `A value is invalid: if \`${cut(wrong.name)}\` is a one2many or many2many field, it takes a list of commands, e.g. \`[[6, 0, [1, 2]]]\` or \`[[0, 0, {"name": "x"}]]\`; a many2one field takes an id.`,
  };
}

/** Whether no field of relations takes the value: an object, or a list with a text, an object or no command. */
function isNoRelation(bytes: Uint8Array, value: JsonSpan): boolean {
  if (value.kind === 'object') return true;
  if (value.kind !== 'array') return false;
  return readAtMost(bytes, value, ELEMENTS_MAX).some((element) => {
    if (element.kind === 'array') return isNoCommand(bytes, element);
    return element.kind !== 'number';
  });
}

/** A command is a number, the id of a record, and values or a list of ids. A new record may have any text as its id. */
function isNoCommand(bytes: Uint8Array, element: JsonSpan): boolean {
  const [command, id, more] = readAtMost(bytes, element, ELEMENTS_MAX);
  if (command?.kind !== 'number' || id?.kind === 'object' || id?.kind === 'array') return true;
  if (id?.kind === 'string' && readInteger(bytes, command) !== CREATE) return true;
  return (
    more?.kind === 'array' && readAtMost(bytes, more, ELEMENTS_MAX).some(({ kind }) => kind !== 'number')
  );
}

/** The command that makes a new record. */
const CREATE = 0;
/** Elements of a list that are checked: enough to find a mistake that all of them have. */
const ELEMENTS_MAX = 100;

function cut(name: string): string {
  return clipText(name, 64);
}
