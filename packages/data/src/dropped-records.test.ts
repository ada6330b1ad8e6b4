/** Finds records after those that Odoo has searched and then dropped. */
import { expect, test } from 'vitest';
import { listIds } from './changes/list-ids.ts';
import { QUERY } from './changes/read-changes.fixture.ts';
import type { Ask } from './changes/terms.ts';
import { findAcrossDropped } from './dropped-records.ts';

/** A table of 2,000,000 records, of which only `visible` are visible. An answer holds at most `rowsMax` of them. */
function search(visible: readonly number[], rowsMax = Number.POSITIVE_INFINITY) {
  const limits: number[] = [];
  const ask = async (limit: number) => {
    limits.push(limit);
    const rows = visible.filter((id) => id <= limit);
    if (rows.length > rowsMax) return { failed: 'large', isTooLarge: true };
    return { first: rows[0] ?? null, isCapped: false };
  };
  return { ask, limits };
}

test.each([1, 999, 1000, 1001, 40_000, 999_999])('finds a record behind %i others', async (dropped) => {
  const { ask } = search([dropped + 1]);
  expect(await findAcrossDropped(ask)).toEqual({ next: dropped < 1_000_000 ? dropped + 1 : null });
});

test('looks among a million records, and not among those that a policy does not let a call read', async () => {
  const all = search([1_000_001]);
  expect(await findAcrossDropped(all.ask)).toEqual({ next: null });
  expect(all.limits.at(-1)).toBe(1_000_000);
  const capped = async () => ({ first: null, isCapped: true });
  expect(await findAcrossDropped<number, never>(capped)).toEqual({ next: null });
});

test('lowers the limit if the answer is too large, and passes other failures on', async () => {
  const visible = Array.from({ length: 1000 }, (_, index) => 50_001 + index * 100);
  const { ask, limits } = search(visible, 10);
  expect(await findAcrossDropped(ask)).toEqual({ next: 50_001 });
  expect(limits.length).toBeLessThan(30);
  expect(await findAcrossDropped(async () => ({ failed: 'large', isTooLarge: true }))).toEqual({
    failed: 'large',
  });
  expect(await findAcrossDropped(async () => ({ failed: 'down', isTooLarge: false }))).toEqual({
    failed: 'down',
  });
});

test('a list of ids goes on behind dropped ones, and ends after them', async () => {
  const visible = [3, 4, 15_000, 15_001, 60_000];
  const ask: Ask<string> = async ({ params, keyword }) => {
    const after = Number(/">",(\d+)/.exec(String(params))?.[1]);
    const ids = visible.filter((id) => id > after && id <= after + Number(keyword['limit']));
    return { result: Buffer.from(JSON.stringify(ids)), clock: null, limit: null };
  };
  expect(await listIds(ask, { ...QUERY, dropsRecords: true }, 1000)).toEqual({ ids: visible });
  expect(await listIds(ask, QUERY, 1000)).toEqual({ ids: [3, 4] });
});
