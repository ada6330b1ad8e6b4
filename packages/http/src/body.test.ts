import { expect, test } from 'vitest';
import { createRandom } from '../../server/test/seeded-random.ts';
import { BodyBudget, BodyRoom } from './body.ts';

const ALWAYS = new AbortController().signal;

test('a body waits until there is room, in the order in which bodies ask', async () => {
  const budget = new BodyBudget(100);
  const [first, second, third] = [new BodyRoom(budget), new BodyRoom(budget), new BodyRoom(budget)];
  expect(await first.take(60, ALWAYS)).toBe(true);
  const got: string[] = [];
  const large = second.take(80, ALWAYS).then(() => got.push('large'));
  const small = third.take(10, ALWAYS).then(() => got.push('small'));
  await new Promise(setImmediate);
  expect(got).toEqual([]);
  first.release();
  await Promise.all([large, small]);
  expect(got).toEqual(['large', 'small']);
  second.release();
  third.release();
  expect(budget.takenBytes).toBe(0);
});

test('a body whose caller leaves while it waits makes way for the next one', async () => {
  const budget = new BodyBudget(100);
  const [first, second, third] = [new BodyRoom(budget), new BodyRoom(budget), new BodyRoom(budget)];
  await first.take(60, ALWAYS);
  const leaving = new AbortController();
  const left = second.take(80, leaving.signal);
  const next = third.take(40, ALWAYS);
  leaving.abort();
  expect(await left).toBe(false);
  expect(await next).toBe(true);
  expect(budget.takenBytes).toBe(100);
});

test('room that arrives after the request has ended is given back', async () => {
  const budget = new BodyBudget(100);
  const [first, second] = [new BodyRoom(budget), new BodyRoom(budget)];
  await first.take(100, ALWAYS);
  const late = second.take(50, ALWAYS);
  second.release();
  first.release();
  expect(await late).toBe(false);
  expect(budget.takenBytes).toBe(0);
});

test('never more than the maximum is taken, and at the end all of it is given back', async () => {
  const seed = Date.now();
  const { below } = makeRandom(seed);
  const budget = new BodyBudget(1000);
  const running: Promise<void>[] = [];
  for (let count = 0; count < 500; count++) {
    running.push(runRequest(budget, below));
    if (below(3) === 0) await new Promise(setImmediate);
  }
  await Promise.all(running);
  expect(budget.takenBytes, `seed ${seed}`).toBe(0);
});

function makeRandom(seed: number) {
  const random = createRandom(seed);
  return { below: (count: number) => Math.floor(random() * count) };
}

async function runRequest(budget: BodyBudget, below: (count: number) => number): Promise<void> {
  const room = new BodyRoom(budget);
  const controller = new AbortController();
  const taking = room.take(1 + below(1000), controller.signal);
  if (below(4) === 0) setImmediate(() => controller.abort());
  if (below(4) === 0) setImmediate(() => room.release());
  await taking;
  expect(budget.takenBytes).toBeLessThanOrEqual(1000);
  for (let turns = below(5); turns > 0; turns--) await new Promise(setImmediate);
  room.release();
}
