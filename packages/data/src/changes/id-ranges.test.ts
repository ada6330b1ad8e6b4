import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { addIds, compareIds, decodeRanges, encodeRanges, type IdRange } from './id-ranges.ts';

const SALT = 7;
const listIds = (count: number, first = 1) => Array.from({ length: count }, (_, index) => first + index);

/** Compares all ids in pages, as answers do. */
function comparePass(given: readonly IdRange[], table: readonly number[], pageIds: number, room: number) {
  let ranges = given;
  let after = 0;
  const gaps: { from: number; to: number }[] = [];
  let pages = 0;
  for (;;) {
    const ids = table.filter((id) => id > after).slice(0, pageIds);
    const isEnd = ids.length < pageIds;
    const upTo = isEnd ? Math.max(ids.at(-1) ?? after, ranges.at(-1)?.to ?? 0) : (ids.at(-1) as number);
    const compared = compareIds(ranges, ids, { after, upTo, room, salt: SALT });
    expect(compared.gaps.length).toBeLessThanOrEqual(room);
    gaps.push(...compared.gaps);
    // The ranges pass through the cursor.
    ranges = decodeRanges(encodeRanges(compared.ranges));
    expect(ranges).toEqual(compared.ranges);
    pages++;
    if (isEnd && compared.reached >= upTo) return { ranges, gaps, pages };
    expect(compared.reached).toBeGreaterThan(after);
    after = compared.reached;
  }
}

test('a copy that drops the ids of the gaps equals the table after each pass, whatever changes between', () => {
  const step = fc.record({
    deletes: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 6 }),
    adds: fc.array(fc.integer({ min: 1, max: 320 }), { maxLength: 4 }),
    pageIds: fc.integer({ min: 1, max: 120 }),
    room: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 280 }), { maxLength: 200 }),
      fc.array(step, { maxLength: 6 }),
      fc.integer({ min: 1, max: 60 }),
      (first, steps, copyPage) => {
        const table = new Set(first);
        const copy = new Set(first);
        const sorted = () => [...table].sort((one, other) => one - other);
        let ranges: readonly IdRange[] = [];
        for (let at = 0, all = sorted(); at < all.length; at += copyPage)
          ranges = addIds(ranges, all.slice(at, at + copyPage), SALT);
        for (const { deletes, adds, pageIds, room } of steps) {
          for (const id of deletes) table.delete(id);
          // The caller gets new records as changes.
          for (const id of adds) {
            table.add(id);
            copy.add(id);
          }
          const highest = Math.max(0, ...copy);
          if (highest > (ranges.at(-1)?.to ?? 0)) ranges = [...ranges, { to: highest, digest: null }];
          const pass = comparePass(ranges, sorted(), pageIds, room);
          ranges = pass.ranges;
          for (const { from, to } of pass.gaps) for (let id = from; id <= to; id++) copy.delete(id);
          for (const { from, to } of pass.gaps)
            expect(sorted().filter((id) => id >= from && id <= to)).toEqual([]);
          expect([...copy].sort((one, other) => one - other)).toEqual(sorted());
        }
      },
    ),
    { numRuns: countCases(200) },
  );
});

test('names nothing while no record was deleted, and then only gaps near the deleted ones', () => {
  const table = listIds(30_000).filter((id) => id % 3 > 0);
  let ranges: readonly IdRange[] = [];
  for (let at = 0; at < table.length; at += 1000) ranges = addIds(ranges, table.slice(at, at + 1000), SALT);
  expect(comparePass(ranges, table, 10_000, 1000).gaps).toEqual([]);
  const { gaps } = comparePass(
    ranges,
    table.filter((id) => id !== 20_000),
    10_000,
    1000,
  );
  expect(gaps.some(({ from, to }) => from <= 20_000 && to >= 20_000)).toBe(true);
  expect(gaps.every(({ from, to }) => Math.abs(from - 20_000) < 1500 && Math.abs(to - 20_000) < 1500)).toBe(
    true,
  );
});

test('millions of ids need less than 20 KB of a cursor, and a page of them is one comparison', () => {
  let ranges: readonly IdRange[] = [];
  for (let first = 1; first < 2_100_000; first += 1000) ranges = addIds(ranges, listIds(1000, first), SALT);
  expect(encodeRanges(ranges).length).toBeLessThan(20_000);
  const page = listIds(10_000);
  const compared = compareIds(ranges, page, { after: 0, upTo: 10_000, room: 100, salt: SALT });
  expect(compared.gaps).toEqual([]);
});
