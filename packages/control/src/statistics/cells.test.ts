import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Cells, type CountedCall, Durations } from './cells.ts';

function makeCall(changes: Partial<CountedCall> = {}): CountedCall {
  return {
    instance: 'prod',
    client: 'c1',
    model: 'res.partner',
    action: 'read',
    outcome: 'ok',
    sharedFrom: null,
    totalMs: 12,
    upstreamMs: 10,
    ...changes,
  };
}

function show(cells: Cells) {
  return Array.from(cells.list(), ({ instance, client, model, action, outcomes }) => ({
    names: [instance, client, model, action],
    outcomes: Object.fromEntries(outcomes),
  }));
}

test('counts calls by their names, outcomes and times', () => {
  const cells = new Cells();
  cells.add(makeCall());
  cells.add(makeCall({ outcome: 'user_error', sharedFrom: 'flight' }));
  cells.add(makeCall({ action: 'write', upstreamMs: null }));
  const [read, write] = [...cells.list()];
  expect(show(cells)).toEqual([
    { names: ['prod', 'c1', 'res.partner', 'read'], outcomes: { ok: 1, user_error: 1 } },
    { names: ['prod', 'c1', 'res.partner', 'write'], outcomes: { ok: 1 } },
  ]);
  expect(read).toMatchObject({ shared: 1, proxyMs: { count: 2 }, odooMs: { count: 2 } });
  expect(write).toMatchObject({ proxyMs: { count: 1 }, odooMs: { count: 0 } });
});

test('names that a caller made up are counted with its client', () => {
  const cells = new Cells();
  for (let index = 0; index < 1000; index++) {
    cells.add(makeCall({ model: `made.up.${index}`, outcome: 'model_not_found' }));
    cells.add(makeCall({ instance: `i${index}`, outcome: 'policy_denied' }));
  }
  expect(show(cells)).toEqual([
    { names: [null, 'c1', null, null], outcomes: { model_not_found: 1000, policy_denied: 1000 } },
  ]);
  cells.add(makeCall());
  cells.add(makeCall({ outcome: 'policy_denied' }));
  expect(show(cells)[1]).toEqual({
    names: ['prod', 'c1', 'res.partner', 'read'],
    outcomes: { ok: 1, policy_denied: 1 },
  });
});

test('the number of cells is bounded, and no call is lost', () => {
  const cells = new Cells();
  for (let index = 0; index < 5000; index++) cells.add(makeCall({ client: `c${index}` }));
  cells.addRefused('c9999', 'rate_limited', 7);
  const shown = show(cells);
  expect(shown.length).toBeLessThanOrEqual(302);
  const total = shown.flatMap(({ outcomes }) => Object.values(outcomes)).reduce((sum, count) => sum + count);
  expect(total).toBe(5007);
});

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
