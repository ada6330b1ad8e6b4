import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Listing, readPage } from './page.ts';

const LENGTH_MAX = 512 * 1024;

/** Lists rows that are numbered from 0. */
function makeListing(rows: number, lengthOf: (row: number) => number): Listing<number, number, number> {
  return {
    place: z.int(),
    placeOf: (row) => row,
    list: async (after, limit) =>
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
