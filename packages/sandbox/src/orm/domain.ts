/**
 * Search domains: compiles Polish notation into a predicate on a row, with Odoo's errors for malformed domains.
 * Independent of order and access rights.
 */
import { type Json, toNumber } from '../json/value.ts';
import { checkOperand } from './check-operand.ts';
import { compileComparison, type Test, toIds } from './compile-comparison.ts';
import { typeError } from './fault.ts';
import type { Environment, Field, Model } from './model.ts';
import { readRelativeDate } from './relative-date.ts';
import { isSearchable } from './searchable.ts';
import { getValue } from './values.ts';

export function compileDomain(environment: Environment, model: Model, domain: Json): Test {
  if (domain === null || domain === false) return () => true;
  if (!Array.isArray(domain)) throw environment.personality.texts.domainNotList(domain);
  const items = [...domain];
  const tests: Test[] = [];
  checkPolish(environment, domain);
  while (items.length > 0) tests.push(compileItem(environment, model, items, domain));
  return (row) => tests.every((test) => test(row));
}

/**
 * Whether the domain mentions the field. If a caller's domain mentions `active`, archived records are not filtered out.
 */
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

function compileItem(
  environment: Environment,
  model: Model,
  items: Json[],
  domain: readonly Json[],
  isNegated = false,
): Test {
  const item = items.shift() as Json;
  if (item === '!') return compileItem(environment, model, items, domain, !isNegated);
  if (item === '&' || item === '|') {
    const left = compileItem(environment, model, items, domain, isNegated);
    const right = compileItem(environment, model, items, domain, isNegated);
    // As in Odoo, a negation is moved down to the conditions.
    const isAnd = (item === '&') !== isNegated;
    return isAnd ? (row) => left(row) && right(row) : (row) => left(row) || right(row);
  }
  const leaf = compileLeaf(environment, model, item, domain);
  return isNegated && leaf !== matchAll ? (row) => !leaf(row) : leaf;
}

function compileLeaf(environment: Environment, model: Model, item: Json, domain: readonly Json[]): Test {
  const { texts, takesAny, idLeadsToRecord, comparesInSql } = environment.personality;
  if (!Array.isArray(item) || item.length !== 3) throw texts.domainItem(item, domain);
  const [path, operatorName, value] = item as [Json, Json, Json];
  // Odoo's own conditions for true and false: (1, '=', 1) and (0, '=', 1).
  if (toNumber(path) !== undefined) return () => (path === value) === (operatorName === '=');
  const operator = typeof operatorName === 'string' ? operatorName.toLowerCase() : '';
  if (typeof path !== 'string' || !operators.has(operator)) throw texts.domainOperator(item);
  if (operator === '==' && comparesInSql) throw texts.domainOperator(item);
  if (!takesAny && operator.endsWith('any'))
    throw typeError("unhashable type: 'list'").at('odoo/osv/expression.py', 'distribute_not');
  const [name = '', ...rest] = path.split('.');
  const field = model.fields.get(name);
  if (!field) throw texts.unknownFieldDomain(model.name, name, item);
  if (!isSearchable(environment, model, field)) return searchUnsearchable(environment, model, field);
  const isAny = operator === 'any' || operator === 'not any';
  if (name === 'id' && idLeadsToRecord && (rest.length > 0 || isAny)) {
    if (rest.length > 0) return compileLeaf(environment, model, [rest.join('.'), operator, value], domain);
    const inner = compileDomain(environment, model, value);
    return (row) => inner(row) === (operator === 'any');
  }
  if (rest.length > 0) {
    if (!field.relation) throw texts.unknownFieldDomain(model.name, path, item);
    return compileRelated(environment, model, field, [[rest.join('.'), operator, value]], false);
  }
  if (isAny) {
    if (!field.relation) throw texts.domainOperator(item);
    return compileRelated(environment, model, field, value, operator === 'not any');
  }
  checkRange(environment, field, value);
  checkOperand(environment, field, operator, value, item);
  const dates = operator.includes('like') ? value : readDates(environment, field, value);
  return compileComparison(environment, model, field, operator, dates);
}

const matchAll: Test = () => true;

/**
 * The result for a condition on a field that cannot be searched. Up to 18, Odoo leaves out the condition, negated or
 * not.
 */
function searchUnsearchable({ personality }: Environment, model: Model, field: Field): Test {
  const { notStored } = personality.texts;
  if (notStored) throw notStored(model.name, field.name);
  return matchAll;
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

/** Replaces texts that stand for a moment by that moment. */
function readDates(environment: Environment, field: Field, value: Json): Json {
  if (field.type !== 'date' && field.type !== 'datetime') return value;
  if (Array.isArray(value)) return value.map((item) => readDates(environment, field, item));
  if (value === null || value === false) return value;
  const { dateCompared } = environment.personality.texts;
  if (typeof value !== 'string') throw dateCompared(value);
  const moment = readRelativeDate(environment, value);
  if (moment !== undefined) return field.type === 'date' ? moment.slice(0, 10) : moment;
  if (!absolute.test(value) || Number.isNaN(Date.parse(value.slice(0, 10)))) throw dateCompared(value);
  return value;
}

const absolute = /^\d{4}-\d\d-\d\d([ T]\d\d(:\d\d){0,2}(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?$/;
