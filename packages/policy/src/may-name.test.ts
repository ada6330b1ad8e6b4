import { expect, test } from 'vitest';
import { compilePolicy } from './compile.ts';
import { mayNameField, mayNameModel } from './may-name.ts';

const POLICY = compilePolicy({ instances: ['prod'], models: { 'res.partner': ['read'], 'sale.*': ['*'] } });

test('names the models of the policy and their fields, and no others', () => {
  expect(
    ['res.partner', 'sale.order', 'res.users', 'sale'].map((model) => mayNameModel(POLICY, model)),
  ).toEqual([true, true, false, false]);
  expect(mayNameField(POLICY, 'res.partner', 'name')).toBe(true);
  expect(mayNameField(POLICY, 'res.users', 'name')).toBe(false);
});

test('names everything to a key without a policy', () => {
  expect(mayNameModel(null, 'res.users')).toBe(true);
  expect(mayNameField(null, 'res.users', 'name')).toBe(true);
});
