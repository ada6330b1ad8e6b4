import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

const signal = () => new AbortController().signal;

test('gives out so many and no more, by name', () => {
  const slots = new Slots();
  expect([slots.tryTake('a', 2), slots.tryTake('a', 2), slots.tryTake('a', 2)]).toEqual([true, true, false]);
  expect(slots.tryTake('b', 1)).toBe(true);
  slots.free('a');
  expect(slots.tryTake('a', 2)).toBe(true);
});

test('lets wait in the order of coming, within a bound', async () => {
  const slots = new Slots(2);
  expect(slots.take('a', 1, signal())).toBe(true);
  const order: string[] = [];
  const waiting = ['first', 'second'].map(async (name) => {
    expect(await slots.take('a', 1, signal())).toBe(true);
    order.push(name);
    slots.free('a');
  });
  expect(await slots.take('a', 1, signal())).toBe(false);
  slots.free('a');
  await Promise.all(waiting);
  expect(order).toEqual(['first', 'second']);
  expect(slots.tryTake('a', 1)).toBe(true);
});

test('gives up with the signal, and leaves no slot taken', async () => {
  const slots = new Slots(10);
  slots.tryTake('a', 1);
  const leaving = new AbortController();
  const left = slots.take('a', 1, leaving.signal);
  const stays = slots.take('a', 1, signal());
  leaving.abort();
  expect(await left).toBe(false);
  slots.free('a');
  expect(await stays).toBe(true);
  slots.free('a');
  expect(slots.tryTake('a', 1)).toBe(true);
  expect(await slots.take('a', 1, AbortSignal.abort())).toBe(false);
});

test('a lower number holds for the next, a higher one lets in those who wait first', async () => {
  const slots = new Slots(10);
  for (let call = 0; call < 3; call++) slots.tryTake('a', 3);
  const order: string[] = [];
  const wait = async (name: string, max: number) => {
    if (await slots.take('a', max, signal())) order.push(name);
  };
  const first = wait('first', 1);
  slots.free('a');
  slots.free('a');
  await Promise.resolve();
  expect(order).toEqual([]);
  slots.free('a');
  await first;
  const second = wait('second', 1);
  const third = wait('third', 2);
  await second;
  expect(order).toEqual(['first', 'second']);
  slots.free('a');
  await third;
  expect(order).toEqual(['first', 'second', 'third']);
});
