/**
 * Search domains: from Polish notation to a test on one row, with Odoo's errors for bad ones. Knows neither
 * order nor rights.
 */
import { printPython } from '../json/printPython.ts';
import { type Json, toNumber } from '../json/value.ts';
import type { Environment } from './environment.ts';
import { typeError, valueError } from './fault.ts';
import type { Field, Row } from './field.ts';
import { matchPattern } from './matchPattern.ts';
import type { Model } from './model.ts';
import { getValue, nameRow } from './values.ts';

export type Test = (row: Row) => boolean;

export function compileDomain(environment: Environment, model: Model, domain: Json): Test {
  if (domain === null || domain === false) return () => true;
  if (!Array.isArray(domain)) throw environment.personality.texts.domainNotList(domain);
  const items = [...domain];
  const tests: Test[] = [];
  checkPolish(environment, domain);
  while (items.length > 0) tests.push(compileItem(environment, model, items));
  return (row) => tests.every((test) => test(row));
}

/** Whether the domain speaks of the field: `active` named by the caller turns the active test off. */
export function mentionsField(domain: Json, field: string): boolean {
  return Array.isArray(domain) && domain.some((item) => Array.isArray(item) && item[0] === field);
}

const operators = new Set([
  '=',
  '!=',
  '<>',
  '<',
  '>',
  '<=',
  '>=',
  'like',
  'not like',
  'ilike',
  'not ilike',
  '=like',
  '=ilike',
  'in',
  'not in',
  '=?',
  'child_of',
  'parent_of',
  'any',
  'not any',
  '==',
]);

function checkPolish(environment: Environment, domain: readonly Json[]): void {
  let expected = 1;
  for (const item of domain) {
    if (expected === 0) expected = 1;
    if (item === '&' || item === '|') expected += 1;
    else if (item !== '!') expected -= 1;
  }
  if (domain.length > 0 && expected !== 0) throw environment.personality.texts.domainMalformed(domain);
}

function compileItem(environment: Environment, model: Model, items: Json[]): Test {
  const item = items.shift() as Json;
  if (item === '!') {
    const inner = compileItem(environment, model, items);
    return (row) => !inner(row);
  }
  if (item === '&' || item === '|') {
    const left = compileItem(environment, model, items);
    const right = compileItem(environment, model, items);
    return item === '&' ? (row) => left(row) && right(row) : (row) => left(row) || right(row);
  }
  return compileLeaf(environment, model, item);
}

function compileLeaf(environment: Environment, model: Model, item: Json): Test {
  const { texts, takesAny } = environment.personality;
  if (!Array.isArray(item) || item.length !== 3) throw texts.domainItem(item);
  const [path, operatorName, value] = item as [Json, Json, Json];
  // Odoo's own true and false: (1, '=', 1) and (0, '=', 1).
  if (toNumber(path) !== undefined) return () => (path === value) === (operatorName === '=');
  const operator = typeof operatorName === 'string' ? operatorName.toLowerCase() : '';
  if (typeof path !== 'string' || !operators.has(operator)) throw texts.domainOperator(item);
  if (!takesAny && operator.endsWith('any')) throw typeError("unhashable type: 'list'");
  const [name = '', ...rest] = path.split('.');
  const field = model.fields.get(name);
  if (!field) throw texts.unknownFieldDomain(model.name, name, item);
  if (rest.length > 0) {
    if (!field.relation) throw texts.unknownFieldDomain(model.name, path, item);
    return compileRelated(environment, model, field, [[rest.join('.'), operator, value]], false);
  }
  if (operator === 'any' || operator === 'not any') {
    return compileRelated(environment, model, field, value, operator === 'not any');
  }
  checkRange(environment, field, value);
  return compileComparison(environment, model, field, operator, value);
}

function compileRelated(
  environment: Environment,
  model: Model,
  field: Field,
  domain: Json,
  isNegated: boolean,
): Test {
  const relation = environment.model(field.relation!);
  const inner = compileDomain(environment, relation, domain);
  return (row) => {
    const found = toIds(getValue(environment, model, row, field)).some((id) => {
      const related = environment.store.get(relation.name, id);
      return related !== undefined && inner(related);
    });
    return found !== isNegated;
  };
}

function checkRange(environment: Environment, field: Field, value: Json): void {
  const { idOutOfRange } = environment.personality.texts;
  if (!idOutOfRange || !(field.type === 'integer' || field.relation)) return;
  for (const item of Array.isArray(value) ? value : [value]) {
    const number = toNumber(item);
    if (number !== undefined && Math.abs(number) > 2147483647) throw idOutOfRange(String(item));
  }
}

function compileComparison(
  environment: Environment,
  model: Model,
  field: Field,
  operator: string,
  wanted: Json,
): Test {
  const read = (row: Row) => getValue(environment, model, row, field);
  if (operator === '=?')
    return isEmpty(wanted) ? () => true : compileComparison(environment, model, field, '=', wanted);
  if (operator === 'child_of' || operator === 'parent_of') {
    return compileHierarchy(environment, model, field, operator === 'child_of', wanted);
  }
  if (operator.includes('like')) return compileLike(environment, model, field, operator, wanted);
  if (field.relation && isText(wanted)) return compileByName(environment, model, field, operator, wanted);
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

function compileHierarchy(
  environment: Environment,
  model: Model,
  field: Field,
  isDown: boolean,
  wanted: Json,
): Test {
  const target = field.relation ? environment.model(field.relation) : model;
  const roots = new Set(toList(wanted).map((id) => toNumber(id) ?? -1));
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

function compileLike(
  environment: Environment,
  model: Model,
  field: Field,
  operator: string,
  wanted: Json,
): Test {
  const pattern = isEmpty(wanted) ? '' : String(toNumber(wanted) ?? wanted);
  const matches = matchPattern(pattern, {
    isWhole: operator.startsWith('='),
    ignoresCase: operator.includes('ilike'),
  });
  const isNegated = operator.startsWith('not');
  return (row) => {
    const value = getValue(environment, model, row, field);
    const texts = field.relation
      ? nameAll(environment, field.relation, toIds(value))
      : isEmpty(value)
        ? []
        : [String(value)];
    return texts.some(matches) !== isNegated;
  };
}

function compileByName(
  environment: Environment,
  model: Model,
  field: Field,
  operator: string,
  wanted: Json,
): Test {
  const names = toList(wanted);
  const isNegated = operator === '!=' || operator === 'not in';
  return (row) =>
    nameAll(environment, field.relation!, toIds(getValue(environment, model, row, field))).some((name) =>
      names.includes(name),
    ) !== isNegated;
}

function nameAll(environment: Environment, modelName: string, ids: readonly number[]): string[] {
  const model = environment.model(modelName);
  return ids.flatMap((id) => {
    const row = environment.store.get(modelName, id);
    return row ? [nameRow(environment, model, row)] : [];
  });
}

function matchAny(read: (row: Row) => Json, wanted: readonly Json[], isIn: boolean): Test {
  return (row) => wanted.some((item) => isSame(read(row), item)) === isIn;
}

function isSame(value: Json, wanted: Json): boolean {
  if (Array.isArray(value))
    return isEmpty(wanted) ? value.length === 0 : value.includes(toNumber(wanted) ?? wanted);
  if (isEmpty(wanted)) return isEmpty(value) || value === 0;
  if (typeof value === 'boolean') return value === Boolean(toNumber(wanted) ?? wanted);
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
const isText = (value: Json): boolean =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'));

function toList(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'object' && value !== null)
    throw valueError(`Invalid domain value ${printPython(value)}`);
  return [value];
}

function toIds(value: Json | undefined): number[] {
  if (Array.isArray(value)) return value as number[];
  return typeof value === 'number' ? [value] : [];
}
