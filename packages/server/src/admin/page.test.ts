import { expect, test } from 'vitest';
import { z } from 'zod';
import { measureBlocking } from '../../test/measure-blocking.ts';
import type { KeyRecord } from '../stores/ports.ts';
import { type Listing, readPage } from './page.ts';
import { showKey } from './views.ts';

const BLOCKED_MS_MAX = 20;
const RUNS = 4;
const LENGTH_MAX = 512 * 1024;

/** Lists rows that are numbered from 0. */
function makeListing(rows: number, lengthOf: (row: number) => number): Listing<number, number, number> {
  return {
    place: z.int(),
    placeOf: (row) => row,
    list: (after, limit) =>
      Array.from({ length: rows }, (_, row) => row)
        .slice((after ?? -1) + 1)
        .slice(0, limit),
    show: (row) => row,
    lengthOf,
  };
}

test.each([
  { long: 'no row', lengthOf: () => 0, pages: [3, 3, 1] },
  { long: 'each row', lengthOf: () => LENGTH_MAX, pages: [1, 1, 1, 1, 1, 1, 1] },
  { long: 'two rows together', lengthOf: () => LENGTH_MAX / 2, pages: [2, 2, 2, 1] },
  { long: 'the last row', lengthOf: (row: number) => (row === 6 ? LENGTH_MAX : 0), pages: [3, 3, 1] },
  { long: 'the first row', lengthOf: (row: number) => (row === 0 ? LENGTH_MAX : 0), pages: [1, 3, 3] },
])('a page ends early where $long is long, and the next one goes on there', async ({ lengthOf, pages }) => {
  const listing = makeListing(7, lengthOf);
  const shown: number[][] = [];
  let cursor: string | null = null;
  do {
    const page: { items: number[]; next: string | null } = await readPage(
      { limit: 3, ...(cursor === null ? {} : { cursor }) },
      listing,
    );
    shown.push(page.items);
    cursor = page.next;
  } while (cursor !== null);
  expect(shown.map(({ length }) => length)).toEqual(pages);
  expect(shown.flat()).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('a page of keys with long policies does not keep the event loop', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `sale.model.number${index}`);
  const policy = JSON.stringify({
    instances: ['prod'],
    models: Object.fromEntries(names.map((name) => [name, ['read', 'search_read']])),
  });
  const dates = { createdAt: 0, expiresAt: null, revokedAt: null, lastUsedAt: null };
  const key: KeyRecord = { id: 'a', clientId: 'a', name: 'a', replaces: null, policy, version: 1, ...dates };
  const listing: Listing<KeyRecord, number, unknown> = {
    place: z.int(),
    placeOf: () => 0,
    list: (_, limit) => Array.from({ length: limit }, () => key),
    show: (row) => showKey(row, 0),
    lengthOf: () => policy.length,
  };
  let blockedMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const read = async () => JSON.stringify(await readPage({ limit: 500 }, listing));
    blockedMs = Math.min(blockedMs, await measureBlocking(read));
  }
  expect(blockedMs).toBeLessThan(BLOCKED_MS_MAX);
});
