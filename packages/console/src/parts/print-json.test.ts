import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listPolicyTemplates } from './policy-templates.ts';
import { printJson } from './print-json.ts';

test('what is printed is the same value', () => {
  const values = [
    null,
    'é"\n',
    [],
    {},
    { a: {}, b: [] },
    [[1, [2]], { c: [{ d: 'x'.repeat(200) }] }],
    ...listPolicyTemplates('prod'),
  ];
  for (const value of values) expect(JSON.parse(printJson(value))).toEqual(value);
});

test('short lists stay on one line, and each model has its own', () => {
  expect(printJson({ instances: ['prod'], models: { a: ['read'], b: ['*'] } })).toBe(`{
  "instances": ["prod"],
  "models": {
    "a": ["read"],
    "b": ["*"]
  }
}`);
});

test('any value of JSON is printed as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(printJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
