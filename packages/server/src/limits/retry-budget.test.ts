import { beforeEach, expect, test } from 'vitest';
import { RETRIES_FLOOR, RetryBudget } from './retry-budget.ts';

let now: number;
let budget: RetryBudget;

beforeEach(() => {
  now = 5_000;
  budget = new RetryBudget(() => now);
});

/** Takes until there is none left. */
const drain = (database: string) => {
  let taken = 0;
  while (budget.take(database)) taken++;
  return taken;
};

test('has the floor at first, for each database', () => {
  expect(drain('a')).toBe(RETRIES_FLOOR);
  expect(drain('b')).toBe(RETRIES_FLOOR);
});

test('grows by one retry with ten calls, and not beyond the floor', () => {
  drain('a');
  for (let call = 0; call < 9; call++) budget.earn('a');
  expect(budget.take('a')).toBe(false);
  budget.earn('a');
  expect(drain('a')).toBe(1);
  for (let call = 0; call < 1_000; call++) budget.earn('a');
  expect(drain('a')).toBe(RETRIES_FLOOR);
});

test('lets no outage be multiplied: never more than a tenth of the calls and the floor', () => {
  let retries = 0;
  for (let call = 1; call <= 10_000; call++) {
    budget.earn('a');
    for (let attempt = 0; attempt < 2; attempt++) if (budget.take('a')) retries++;
    expect(retries).toBeLessThanOrEqual(call / 10 + RETRIES_FLOOR);
  }
  expect(retries).toBeGreaterThan(1_000);
});

test('grows by one retry in ten seconds where there are no calls', () => {
  drain('a');
  now += 9_900;
  expect(budget.take('a')).toBe(false);
  now += 100;
  expect(drain('a')).toBe(1);
  now += 3_600_000;
  expect(drain('a')).toBe(RETRIES_FLOOR);
});

test('forgets databases that have their floor again, however many are made up', () => {
  for (let index = 0; index < 100_000; index++) {
    budget.take(`made up ${index}`);
    now += 10;
  }
  // One retry is given back in 10 s: so many of them are known.
  expect(budget.size).toBeLessThanOrEqual(2_001);
});
