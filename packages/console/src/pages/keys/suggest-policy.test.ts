import { expect, test } from 'vitest';
import { suggestPolicy } from './suggest-policy.ts';

const KNOWN = { instances: ['prod'], models: ['res.partner'], actions: ['read'] };

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

test('nothing is offered for names that the proxy does not know', () => {
  expect(
    suggestPolicy({ expects: 'value', path: ['fields', 'a', 'deny', 0], previous: null }, KNOWN),
  ).toEqual([]);
});
