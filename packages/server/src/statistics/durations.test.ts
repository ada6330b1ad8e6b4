import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Durations } from './durations.ts';

const duration = fc.oneof(
  fc.double({ min: 0, max: 300_000, noNaN: true }),
  fc.double({ min: 0.1, max: 50, noNaN: true }),
);

function collect(values: readonly number[]): Durations {
  const durations = new Durations();
  for (const value of values) durations.add(value);
  return durations;
}

/** The value below which this fraction of the values lies. */
function findExact(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!;
}

test('a quantile is exact to a fifth', () => {
  fc.assert(
    fc.property(fc.array(duration, { minLength: 1, maxLength: 300 }), (values) => {
      const quantiles = collect(values).quantiles()!;
      for (const [part, shown] of [
        [0.5, quantiles.p50],
        [0.95, quantiles.p95],
        [0.99, quantiles.p99],
      ] as const) {
        const exact = findExact(values, part);
        expect(shown).toBeLessThanOrEqual(Math.max(0.1, exact * 1.21));
        expect(shown).toBeGreaterThanOrEqual(exact <= 0.1 ? 0 : exact / 1.21);
      }
    }),
  );
});

test('sums of counts, also over their text, have the quantiles of all durations', () => {
  fc.assert(
    fc.property(fc.array(duration), fc.array(duration), (some, others) => {
      const sum = collect(some);
      sum.addPairs(JSON.parse(JSON.stringify(collect(others))));
      const all = collect([...some, ...others]);
      expect(sum.count).toBe(all.count);
      expect(sum.quantiles()).toEqual(all.quantiles());
    }),
  );
});

test('there are no quantiles of no durations', () => {
  expect(new Durations().quantiles()).toBeNull();
});

test.each([null, 'x', [1], [1, -1], [-1, 1], [1e9, 1], [0.5, 2], [1, 'x']])('ignores %j', (text) => {
  const durations = new Durations();
  durations.addPairs(text);
  expect(durations.count).toBe(0);
});

test('odd durations are counted', () => {
  const durations = collect([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e12]);
  expect(durations.count).toBe(4);
});
