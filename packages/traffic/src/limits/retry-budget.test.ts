import { beforeEach, expect, test } from 'vitest';
import { RETRIES_FLOOR, RetryBudget } from './retry-budget.ts';

let now: number;
let budget: RetryBudget;

beforeEach(() => {
  now = 5_000;
  budget = new RetryBudget(() => now);
});

/** Takes all retries that are left. Returns their number. */
const drain = (database: string) => {
  let taken = 0;
  while (budget.take(database)) taken++;
  return taken;
};

test('each database starts with the floor', () => {
  expect(drain('a')).toBe(RETRIES_FLOOR);
  expect(drain('b')).toBe(RETRIES_FLOOR);
});

test('ten calls add one retry, up to the floor', () => {
  drain('a');
  for (let call = 0; call < 9; call++) budget.earn('a');
  expect(budget.take('a')).toBe(false);
  budget.earn('a');
  expect(drain('a')).toBe(1);
  for (let call = 0; call < 1_000; call++) budget.earn('a');
  expect(drain('a')).toBe(RETRIES_FLOOR);
});

test('retries never exceed the floor and a tenth of the calls', () => {
  let retries = 0;
  for (let call = 1; call <= 10_000; call++) {
    budget.earn('a');
    for (let attempt = 0; attempt < 2; attempt++) if (budget.take('a')) retries++;
    expect(retries).toBeLessThanOrEqual(call / 10 + RETRIES_FLOOR);
  }
  expect(retries).toBeGreaterThan(1_000);
});

test('ten seconds without calls add one retry', () => {
  drain('a');
  now += 9_900;
  expect(budget.take('a')).toBe(false);
  now += 100;
  expect(drain('a')).toBe(1);
  now += 3_600_000;
  expect(drain('a')).toBe(RETRIES_FLOOR);
});

test('databases with a full budget are removed, however many names callers make up', () => {
  for (let index = 0; index < 100_000; index++) {
    budget.take(`made up ${index}`);
    now += 10;
  }
  // A retry is restored after 10 s, so only the databases of the last 10 s are stored.
  expect(budget.size).toBeLessThanOrEqual(2_001);
});
