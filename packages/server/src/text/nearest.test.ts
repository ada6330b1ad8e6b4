import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNearestName, findNearestNames } from './nearest.ts';

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

test('very long names are not near', () => {
  expect(findNearestNames('name', ['name'.repeat(100), 'nmae'], 3)).toEqual(['nmae']);
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

describe('several names', () => {
  test('come with the nearest first, and equally similar ones in their order', () => {
    const known = ['email', 'names', 'game', 'name', 'mane'];
    expect(findNearestNames('nmae', known, 3)).toEqual(['name', 'names', 'game']);
    expect(findNearestNames('nmae', known, 9)).toHaveLength(5);
    expect(findNearestNames('nmae', [], 3)).toEqual([]);
  });

  test('are those that sorting all accepted ones by their distance gives', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_', 'B'), maxLength: 9 });
    fc.assert(
      fc.property(
        word,
        fc.uniqueArray(word, { maxLength: 30 }),
        fc.integer({ min: 1, max: 6 }),
        fc.func(fc.boolean()),
        (name, known, max, accepts) => {
          const sorted = known
            .filter((candidate) => accepts(candidate))
            .map((candidate) => ({
              candidate,
              distance: measure(name.toLowerCase(), candidate.toLowerCase()),
            }))
            .sort((a, b) => a.distance - b.distance)
            .map(({ candidate }) => candidate);
          expect(findNearestNames(name, known, max, accepts)).toEqual(sorted.slice(0, max));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('are accepted only if they would be in the result', () => {
    const asked: string[] = [];
    const accepts = (candidate: string) => asked.push(candidate) > 0;
    expect(findNearestNames('name', ['name', 'names', 'xxxxxxxx', 'x'], 2, accepts)).toEqual([
      'name',
      'names',
    ]);
    expect(asked).toEqual(['name', 'names']);
  });
});

/** The distance as it is defined: by the last letters of both texts. */
function measure(left: string, right: string): number {
  const memory = new Map<string, number>();
  const find = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const kept = memory.get(`${i} ${j}`);
    if (kept !== undefined) return kept;
    const edits = [
      find(i - 1, j) + 1,
      find(i, j - 1) + 1,
      find(i - 1, j - 1) + (left[i - 1] === right[j - 1] ? 0 : 1),
    ];
    const isSwapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
    if (isSwapped) edits.push(find(i - 2, j - 2) + 1);
    const distance = Math.min(...edits);
    memory.set(`${i} ${j}`, distance);
    return distance;
  };
  return find(left.length, right.length);
}

test('compares only the first letters of a name with 30 million', () => {
  expect(findNearestName(`keywor${'d'.repeat(30_000_000)}`, ['id', 'keyword'])).toBe('keyword');
}, 2_000);
