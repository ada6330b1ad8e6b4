import { expect, test } from 'vitest';
import { findFieldsModel, suggestPolicy } from './suggest-policy.ts';

const KNOWN = {
  instances: ['prod'],
  models: ['res.partner'],
  labels: { 'res.partner': 'Contact' },
  actions: ['read'],
};

test.each([
  ['name', [], 'instances'],
  ['name', ['models'], 'res.partner'],
  ['name', ['fields'], 'res.partner'],
  ['name', ['fields', 'res.partner'], 'deny'],
  ['name', ['rate'], 'requests'],
  ['value', ['instances', 0], 'prod'],
  ['value', ['models', 'res.partner', 2], 'read'],
  ['value', ['approve', 'res.partner', 0], 'read'],
  ['value', ['data', 0], 'export'],
  ['value', ['read_only'], true],
] as const)('a %s at %j can be %j', (expects, path, value) => {
  const found = suggestPolicy({ expects, path: [...path], previous: null }, KNOWN);
  expect(found.map((suggestion) => suggestion.value)).toContain(value);
});

test('fields are offered in the lists of a rule for fields only', () => {
  const place = (path: (string | number)[]) => ({ expects: 'value' as const, path, previous: null });
  const fields = { vat: { string: 'Tax ID', type: 'char' } };
  expect(findFieldsModel(place(['fields', 'res.partner', 'deny', 2]))).toBe('res.partner');
  expect(findFieldsModel(place(['fields', 'res.partner', 'other', 2]))).toBeNull();
  expect(findFieldsModel(place(['models', 'res.partner', 2]))).toBeNull();
  expect(suggestPolicy(place(['fields', 'res.partner', 'deny', 2]), KNOWN, fields)).toEqual([
    { value: 'vat', detail: 'Tax ID' },
  ]);
  expect(suggestPolicy(place(['models', 'res.partner', 2]), KNOWN, fields)).toEqual([{ value: 'read' }]);
});

test('models have their labels', () => {
  expect(suggestPolicy({ expects: 'name', path: ['models'], previous: null }, KNOWN)).toEqual([
    { value: 'res.partner', detail: 'Contact' },
  ]);
});

test('nothing is offered for names that the proxy does not know', () => {
  expect(
    suggestPolicy({ expects: 'value', path: ['fields', 'a', 'deny', 0], previous: null }, KNOWN),
  ).toEqual([]);
});
