import { expect, test } from 'vitest';
import { type Flight, SingleFlight } from './single-flight.ts';

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
