/**
 * Compiles one condition of a domain: compares a field of a row with a value. Does not handle paths, nor `&`, `|`, `!`.
 */
import { printPython } from '../json/print-python.ts';
import { isTrue, type Json, toNumber } from '../json/value.ts';
import { valueError } from './fault.ts';
import { isText } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import type { Row } from './row.ts';
import { allIds, padTime } from './row-source.ts';
import { getValue, nameRow, readStored } from './values.ts';

export type Test = (row: Row) => boolean;

/** Compares the names of records, as `name_search` does, even if a domain cannot compare them. */
export function compileNamed(environment: Environment, model: Model, operator: Json, name: Json): Test {
  const field = model.fields.get('display_name') as Field;
  return compileComparison(environment, model, field, String(operator), name);
}

export function compileComparison(
  environment: Environment,
  model: Model,
  field: Field,
  operator: string,
  wanted: Json,
): Test {
  if (field.type === 'datetime' && !operator.includes('like') && operator !== '=?')
    return compileTime(environment, model, field, operator, wanted);
  const isUnset = (value: Json) =>
    value === '' && isText(field) && environment.personality.emptyTextsAreUnset;
  const unset = (value: Json) => (isUnset(value) ? null : value);
  const read = (row: Row) => unset(getValue(environment, model, row, field));
  if (operator === '=?')
    return isEmpty(wanted) ? () => true : compileComparison(environment, model, field, '=', wanted);
  if (operator === 'child_of' || operator === 'parent_of') {
    return compileHierarchy(environment, model, field, operator === 'child_of', wanted);
  }
  if (operator.includes('like')) return compileLike(environment, model, field, operator, wanted);
  const isNamed = field.relation !== undefined || field.name === 'display_name';
  if (isNamed && areTexts(wanted)) return compileByName(environment, model, field, operator, wanted);
  return compare(read, operator, Array.isArray(wanted) ? wanted.map(unset) : unset(wanted));
}

function compare(read: (row: Row) => Json, operator: string, wanted: Json): Test {
  switch (operator) {
    case '=':
    case '==':
      return Array.isArray(wanted) ? matchAny(read, wanted, true) : (row) => isSame(read(row), wanted);
    case '!=':
    case '<>':
      return Array.isArray(wanted) ? matchAny(read, wanted, false) : (row) => !isSame(read(row), wanted);
    case 'in':
      return matchAny(read, toList(wanted), true);
    case 'not in':
      return matchAny(read, toList(wanted), false);
    default:
      return (row) => isOrdered(read(row), operator, wanted);
  }
}

/**
 * Times are compared with their microseconds, in 19 as whole seconds. A day is its beginning, or its end for `>` and
 * `<=` (docs/odoo-facts.md#write-date).
 */
function compileTime(
  environment: Environment,
  model: Model,
  field: Field,
  operator: string,
  wanted: Json,
): Test {
  const { comparesSeconds } = environment.personality;
  const cut = (time: string) => (comparesSeconds ? time.slice(0, 19) : padTime(time));
  const endsDay = operator === '>' || operator === '<=';
  const parse = (value: Json): Json => {
    if (typeof value !== 'string') return value;
    return cut(
      value.length === 10 ? `${value} ${endsDay ? '23:59:59' : '00:00:00'}` : value.replace('T', ' '),
    );
  };
  const read = (row: Row) => {
    const value = readStored(environment, model, row, field);
    return typeof value === 'string' ? cut(value) : value;
  };
  return compare(read, operator, Array.isArray(wanted) ? wanted.map(parse) : parse(wanted));
}

function compileHierarchy(
  environment: Environment,
  model: Model,
  field: Field,
  isDown: boolean,
  wanted: Json,
): Test {
  if (!field.relation && field.name !== 'id')
    throw valueError(`Invalid operator '${isDown ? 'child_of' : 'parent_of'}' for '${field.name}'.`);
  const target = field.relation ? environment.model(field.relation) : model;
  const named = compileNameSearch(environment, target);
  const roots = new Set(
    toList(wanted).flatMap((item) => (typeof item === 'string' ? named(item) : [toNumber(item) ?? -1])),
  );
  const parentOf = (id: number) =>
    environment.store.get(target.name, id)?.['parent_id'] as number | undefined;
  const chain = (id: number): number[] => {
    const ids: number[] = [];
    for (let at: number | undefined = id; at && !ids.includes(at); at = parentOf(at)) ids.push(at);
    return ids;
  };
  const above = new Set([...roots].flatMap(chain));
  const holds = (id: number) => (isDown ? chain(id).some((parent) => roots.has(parent)) : above.has(id));
  return (row) =>
    toIds(field.name === 'id' ? row['id'] : getValue(environment, model, row, field)).some(holds);
}

/** Finds the ids of the records whose names contain the text. */
function compileNameSearch(environment: Environment, model: Model): (text: string) => number[] {
  return (text) => {
    const matches = matchPattern(text, { isWhole: false, ignoresCase: true });
    return [...environment.store.table(model.name).scan(allIds)]
      .filter((row) => listNames(environment, model, row).some(matches))
      .map((row) => row['id'] as number);
  };
}

function compileLike(
  environment: Environment,
  model: Model,
  field: Field,
  operator: string,
  wanted: Json,
): Test {
  const pattern = isEmpty(wanted) ? '' : typeof wanted === 'string' ? wanted : printPython(wanted);
  const matches = matchPattern(pattern, {
    isWhole: operator.startsWith('='),
    ignoresCase: operator.includes('ilike'),
  });
  const isNegated = operator.startsWith('not');
  // Every text contains the empty text, and Odoo treats a field without a value alike.
  if (pattern === '' && !operator.startsWith('=') && !field.relation) return () => !isNegated;
  return (row) => listTexts(environment, model, row, field).some(matches) !== isNegated;
}

/** The texts of a field that are compared with the text of the condition. */
function listTexts(environment: Environment, model: Model, row: Row, field: Field): string[] {
  if (field.name === 'display_name') return listNames(environment, model, row);
  const value = getValue(environment, model, row, field);
  if (field.relation) return nameAll(environment, field.relation, toIds(value));
  return isEmpty(value) ? [] : [String(value)];
}

function compileByName(
  environment: Environment,
  model: Model,
  field: Field,
  operator: string,
  wanted: Json,
): Test {
  const names = toList(wanted);
  const isNegated = operator === '!=' || operator === '<>' || operator === 'not in';
  return (row) =>
    listTexts(environment, model, row, field).some((name) => names.includes(name)) !== isNegated;
}

function nameAll(environment: Environment, modelName: string, ids: readonly number[]): string[] {
  const model = environment.model(modelName);
  return ids.flatMap((id) => {
    const row = environment.store.get(modelName, id);
    return row ? listNames(environment, model, row) : [];
  });
}

/** The texts that a search by name compares. */
function listNames(environment: Environment, model: Model, row: Row): string[] {
  const others = (model.searchedFields ?? []).map((name) => row[name]);
  return [nameRow(environment, model, row), ...others.filter((text) => typeof text === 'string')];
}

function matchAny(read: (row: Row) => Json, wanted: readonly Json[], isIn: boolean): Test {
  return (row) => wanted.some((item) => isSame(read(row), item)) === isIn;
}

function isSame(value: Json, wanted: Json): boolean {
  if (Array.isArray(value))
    return isEmpty(wanted) ? value.length === 0 : value.includes(toNumber(wanted) ?? wanted);
  if (isEmpty(wanted)) return isEmpty(value) || value === 0;
  if (typeof value === 'boolean') return value === isTrue(wanted);
  return value === (toNumber(wanted) ?? wanted);
}

function isOrdered(value: Json, operator: string, wanted: Json): boolean {
  const bound = toNumber(wanted) ?? wanted;
  if (value === null || bound === null || typeof value !== typeof bound) return false;
  if (operator === '<') return value < bound;
  if (operator === '>') return value > bound;
  return operator === '<=' ? value <= bound : value >= bound;
}

const isEmpty = (value: Json): boolean => value === null || value === false;
const areTexts = (value: Json): boolean =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'));

function toList(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'object' && value !== null)
    throw valueError(`Invalid domain value ${printPython(value)}`);
  return [value];
}

/** The ids in the value of a relational field. */
export function toIds(value: Json | undefined): number[] {
  if (Array.isArray(value)) return value as number[];
  return typeof value === 'number' ? [value] : [];
}

/** SQL LIKE: `%` matches any text, `_` one character; a backslash escapes the next character. */
function matchPattern(
  pattern: string,
  options: { isWhole: boolean; ignoresCase: boolean },
): (text: string) => boolean {
  let source = '';
  for (let index = 0; index < pattern.length; index++) {
    const letter = pattern[index] as string;
    if (letter === '%') source += '.*';
    else if (letter === '_') source += '.';
    else source += RegExp.escape(letter === '\\' ? (pattern[++index] ?? '\\') : letter);
  }
  const expression = new RegExp(options.isWhole ? `^${source}$` : source, options.ignoresCase ? 'isu' : 'su');
  return (text) => expression.test(text);
}
