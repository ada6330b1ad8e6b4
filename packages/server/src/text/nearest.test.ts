import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findNearestName } from './nearest.ts';

const MEMBERS = ['id', 'action', 'model_id', 'fn_name', 'params', 'keyword', 'erp_instance'] as const;

test.each([
  ['keywrod', 'keyword'],
  ['keywords', 'keyword'],
  ['Params', 'params'],
  ['modelid', 'model_id'],
  ['model', 'model_id'],
  ['erpInstance', 'erp_instance'],
  ['fnname', 'fn_name'],
])('takes %s for %s', (name, nearest) => {
  expect(findNearestName(name, MEMBERS)).toBe(nearest);
});

test('counts two swapped letters as one edit', () => {
  expect(findNearestName('ba', ['b-xa', 'ab', 'xx'])).toBe('ab');
  expect(findNearestName('prot', ['post12', 'port', 'pr'])).toBe('port');
});

test('returns the first of equally similar names', () => {
  expect(findNearestName('x', ['a', 'b'])).toBe('a');
});

test('returns a known name for any name, and a known name itself', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.uniqueArray(fc.string({ maxLength: 20 }), { minLength: 1 }),
      (name, known) => {
        expect(known).toContain(findNearestName(name, known));
        const lowered = known.map((each) => each.toLowerCase());
        if (new Set(lowered).size === known.length) {
          for (const each of known) expect(findNearestName(each, known)).toBe(each);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('compares only the first letters of a name with 30 million', () => {
  expect(findNearestName(`keywor${'d'.repeat(30_000_000)}`, ['id', 'keyword'])).toBe('keyword');
}, 2_000);
