import { expect, test } from 'vitest';
import { type Flight, SingleFlight, SingleFlightCache } from './single-flight.ts';
import { ABORTED } from './wait.ts';

/** Tasks that the test ends; `started` counts them. */
function startFlights() {
  const flights = new SingleFlight<string>();
  const tasks: (PromiseWithResolvers<string> & { flight: Flight })[] = [];
  const run = (key: string) =>
    flights.run(key, (flight) => {
      const task = Promise.withResolvers<string>();
      tasks.push({ ...task, flight });
      return task.promise;
    });
  return { flights, tasks, run };
}

test('runs one task for all callers of a key, and another for another key', async () => {
  const { tasks, run } = startFlights();
  const results = [run('a'), run('a'), run('b')];
  expect(tasks).toHaveLength(2);
  tasks[0]?.resolve('one');
  tasks[1]?.resolve('other');
  expect(await Promise.all(results)).toEqual(['one', 'one', 'other']);
});

test('starts anew once the task has ended, also after a failure', async () => {
  const { flights, tasks, run } = startFlights();
  const results = [run('a'), run('a')];
  tasks[0]?.reject(new Error('no answer'));
  for (const result of results) await expect(result).rejects.toThrow('no answer');
  expect(flights.get('a')).toBeUndefined();
  const again = run('a');
  tasks[1]?.resolve('two');
  expect(await again).toBe('two');
});

test('keeps nothing of a task that fails to start', () => {
  const { flights } = startFlights();
  const fail = () => {
    throw new Error('cannot start');
  };
  expect(() => flights.run('a', fail)).toThrow('cannot start');
  expect(flights.get('a')).toBeUndefined();
});

test('a forgotten task still ends for its callers, and later callers start a new one', async () => {
  const { flights, tasks, run } = startFlights();
  const old = run('a');
  flights.forget('a');
  const present = run('a');
  expect(tasks.map(({ flight }) => flight.isForgotten)).toEqual([true, false]);
  tasks[0]?.resolve('old');
  expect(await old).toBe('old');
  expect(flights.get('a')).toBe(present);
  flights.forgetAll();
  expect(tasks[1]?.flight.isForgotten).toBe(true);
  expect(flights.get('a')).toBeUndefined();
  tasks[1]?.resolve('new');
  expect(await present).toBe('new');
});

function startCache(max = 10) {
  const clock = { nowMs: 1_000 };
  let asked = 0;
  const cache = new SingleFlightCache<string>(max, () => clock.nowMs);
  const answer = (value: string, ttlMs: number) => async () => {
    asked++;
    return { value, ttlMs };
  };
  return { clock, cache, answer, count: () => asked };
}

test('runs one task for all callers that wait', async () => {
  const { cache, answer, count } = startCache();
  const values = await Promise.all(Array.from({ length: 50 }, () => cache.get('a', answer('x', 100))));
  expect(new Set(values)).toEqual(new Set(['x']));
  expect(count()).toBe(1);
});

test('keeps a value for its time and no millisecond longer', async () => {
  const { cache, clock, answer, count } = startCache();
  await cache.get('a', answer('x', 100));
  clock.nowMs += 100;
  expect(await cache.get('a', answer('y', 100))).toBe('x');
  clock.nowMs += 1;
  expect(await cache.get('a', answer('y', 100))).toBe('y');
  expect(count()).toBe(2);
});

test('gives a value with a time of 0 only to the callers that wait', async () => {
  const { cache, answer, count } = startCache();
  await Promise.all([cache.get('a', answer('x', 0)), cache.get('a', answer('x', 0))]);
  expect(count()).toBe(1);
  await cache.get('a', answer('x', 0));
  expect(count()).toBe(2);
});

test('forgets a key on request, and the oldest key beyond its size', async () => {
  const { cache } = startCache(2);
  for (const name of ['a', 'b', 'c']) cache.set(name, { value: name, ttlMs: 100 });
  expect(['a', 'b', 'c'].map((name) => cache.has(name))).toEqual([false, true, true]);
  cache.forget('c');
  expect(cache.has('c')).toBe(false);
});

test('bounds the sum of the weights', () => {
  const cache = new SingleFlightCache<string>(
    10,
    () => 0,
    (value) => value.length,
  );
  for (const value of ['1234', '12345', '123', 'heavier than all']) cache.set(value, { value, ttlMs: 100 });
  expect(['1234', '12345', '123', 'heavier than all'].map((name) => cache.has(name))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('lets a caller leave, and goes on for the others', async () => {
  const { cache } = startCache();
  const answer = Promise.withResolvers<{ value: string; ttlMs: number }>();
  const leaving = new AbortController();
  const first = cache.get('a', () => answer.promise, leaving.signal);
  const second = cache.get('a', () => answer.promise);
  leaving.abort();
  expect(await first).toBe(ABORTED);
  expect(await cache.get('a', () => answer.promise, leaving.signal)).toBe(ABORTED);
  answer.resolve({ value: 'x', ttlMs: 100 });
  expect(await second).toBe('x');
  expect(await cache.get('a', () => Promise.reject(new Error('asked again')))).toBe('x');
});

test('gives a failure to all callers that wait, and does not keep it', async () => {
  const { cache, answer } = startCache();
  const fail = () => Promise.reject(new Error('no answer'));
  const failed = await Promise.allSettled([cache.get('a', fail), cache.get('a', fail)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await cache.get('a', answer('x', 100))).toBe('x');
});

test('lets a value expire that was kept when the clock was at 0', async () => {
  const { cache, clock, answer } = startCache();
  clock.nowMs = 0;
  await cache.get('a', answer('x', 100));
  clock.nowMs = 101;
  expect(await cache.get('a', answer('y', 100))).toBe('y');
});
