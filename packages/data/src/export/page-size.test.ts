import { expect, test } from 'vitest';
import { PageSize } from './page-size.ts';

/** The page sizes for a server that needs `fixedMs` for a page and `recordMs` for each record of `recordBytes`. */
function run(
  fixedMs: number,
  recordMs: number,
  recordBytes: number,
  interactiveMs: number | null = null,
  pages = 40,
): number[] {
  const sizing = new PageSize();
  return Array.from({ length: pages }, () => {
    const { size } = sizing;
    sizing.learn({
      records: size,
      bytes: size * recordBytes,
      tookMs: fixedMs + size * recordMs,
      interactiveMs,
    });
    return size;
  });
}

test('a page takes about 250 ms alone, and half as long as interactive calls beside them', () => {
  for (const size of run(0, 1, 100).slice(5)) expect(size).toBeCloseTo(250, -2);
  for (const size of run(0, 1, 100, 80).slice(5)) expect(size).toBe(40);
  for (const size of run(0, 1, 100, 4000).slice(5)) expect(size).toBeCloseTo(250, -2);
  // The interactive calls have no time yet.
  for (const size of run(0, 1, 100, 0).slice(8)) expect(size).toBe(10);
});

test('a page has about a megabyte', () => {
  for (const size of run(10, 0.01, 10_000).slice(5)) expect(Math.abs(size - 105)).toBeLessThan(2);
});

test('time that smaller pages would not save takes at most half of a page', () => {
  const sizes = run(600, 1, 100, 20, 100).slice(20);
  expect(sizes.reduce((sum, size) => sum + size) / sizes.length).toBeGreaterThan(400);
});

test('no size is below 1 or above 5,000, whatever a page costs', () => {
  for (const size of run(0, 5000, 100)) expect(size).toBeGreaterThanOrEqual(1);
  expect(run(0, 0, 0).at(-1)).toBe(5000);
  for (const size of run(0, 0, 1e9).slice(10)) expect(size).toBe(1);
});

test('a page without records changes nothing, and one that was too large halves the size', () => {
  const sizing = new PageSize();
  sizing.learn({ records: 0, bytes: 2, tookMs: 10_000, interactiveMs: null });
  expect(sizing.size).toBe(100);
  sizing.halve(100);
  expect(sizing.size).toBe(50);
  sizing.halve(1);
  expect(sizing.size).toBe(1);
});
