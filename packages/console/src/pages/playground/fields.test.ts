import { expect, test } from 'vitest';
import { convertValue, findOperator, listOperators } from './fields.ts';

test.each([
  ['char', '!=', false, 'is set'],
  ['char', '=', false, 'is not set'],
  ['boolean', '=', false, 'is'],
  ['many2one', '=', 3, 'is'],
  ['many2one', 'child_of', 3, 'is or is below'],
  ['char', 'any', [], 'any'],
  [undefined, 'ilike', 'x', 'contains'],
])('the operator of a %s with %s %j reads "%s"', (type, operator, value, label) => {
  expect(findOperator(type, operator, value).label).toBe(label);
});

test.each([
  ['char', 'is one of', 'a', ['a']],
  ['char', 'is one of', '', []],
  ['char', 'is', ['a', 'b'], 'a'],
  ['char', 'is set', 'a', false],
  ['boolean', 'is', '', false],
  ['many2one', 'contains', 3, ''],
  ['many2one', 'is', false, ''],
])('a %s whose operator becomes "%s" keeps of %j what fits', (type, label, before, after) => {
  const operator = listOperators(type).find((one) => one.label === label);
  expect(operator && convertValue(before, type, operator)).toEqual(after);
});
