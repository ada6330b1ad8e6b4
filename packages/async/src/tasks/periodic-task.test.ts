import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countOwnTimers } from '../../../server/test/own-timers.ts';
import { startPeriodicTask } from './periodic-task.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A task with runs that the test ends. */
function startTask() {
  const runs: (PromiseWithResolvers<void> & { signal: AbortSignal })[] = [];
  const errors: unknown[] = [];
  const task = startPeriodicTask(
    (signal) => {
      const run = { ...Promise.withResolvers<void>(), signal };
      runs.push(run);
      return run.promise;
    },
    { intervalMs: 1000, onError: (error) => errors.push(error) },
  );
  return { task, runs, errors };
}

test('runs at each interval and on request, but never twice at once', async () => {
  const { task, runs } = startTask();
  expect(runs).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs).toHaveLength(1);
  task.run();
  await vi.advanceTimersByTimeAsync(5000);
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await vi.advanceTimersByTimeAsync(0);
  task.run();
  expect(runs).toHaveLength(2);
});

test('reports a failed run and runs again', async () => {
  const { runs, errors } = startTask();
  await vi.advanceTimersByTimeAsync(1000);
  const failure = new Error('the store is away');
  runs[0]?.reject(failure);
  await vi.advanceTimersByTimeAsync(1000);
  expect(errors).toEqual([failure]);
  expect(runs).toHaveLength(2);
});

test('closes once the run has ended, which its signal tells to stop', async () => {
  const countTimers = countOwnTimers();
  const { task, runs } = startTask();
  await vi.advanceTimersByTimeAsync(1000);
  let isClosed = false;
  const closed = task.close().then(() => {
    isClosed = true;
  });
  await vi.advanceTimersByTimeAsync(5000);
  expect([runs[0]?.signal.aborted, isClosed, runs.length]).toEqual([true, false, 1]);
  runs[0]?.resolve();
  await closed;
  expect(countTimers()).toBe(0);
});
