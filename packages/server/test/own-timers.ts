/**
 * Counts the timers of one test. `vi.getTimerCount()` counts the timers of the whole process, which other files use
 * too: work that an earlier file began can set a timer.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';

/** Code that runs on behalf of a test has the object of that test here. */
const running = new AsyncLocalStorage<object>();
const { setTimeout, clearTimeout, setInterval } = globalThis;

/**
 * To be called in the test, after `vi.useFakeTimers()` and before any timer is set. Returns a function that returns how
 * many timers the test and the functions it called have set since, without timers that were cleared or have run. Timers
 * of other work are real timers, so that the test cannot run them as its own. `vi.useRealTimers()` ends both.
 */
export function countOwnTimers(): () => number {
  vi.clearAllTimers();
  const test = {};
  running.enterWith(test);
  const isOwn = () => running.getStore() === test;
  const fake = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
  };
  const timers = new Set<unknown>();
  const add = <Timer>(timer: Timer): Timer => {
    timers.add(timer);
    return timer;
  };
  const clear = (timer: NodeJS.Timeout) => {
    if (timers.delete(timer)) fake.clearTimeout(timer);
    else clearTimeout(timer);
  };
  const wrapped = {
    setTimeout(run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
      if (!isOwn()) return setTimeout(run, ms, ...args);
      const timer = fake.setTimeout(() => {
        timers.delete(timer);
        run(...args);
      }, ms);
      return add(timer);
    },
    setInterval(run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
      return isOwn() ? add(fake.setInterval(run, ms, ...args)) : setInterval(run, ms, ...args);
    },
    clearTimeout: clear,
    clearInterval: clear,
  };
  // `vi.useRealTimers()` restores only functions that are faked.
  for (const [name, wrapper] of Object.entries(wrapped)) {
    if ('clock' in globalThis[name as keyof typeof wrapped]) Object.assign(globalThis, { [name]: wrapper });
  }
  return () => timers.size;
}

/**
 * To be called after `vi.useFakeTimers()`, whose end also ends the recording. Returns the times in milliseconds of all
 * timers that any code sets from then on. A spy would not do: `vi.restoreAllMocks()` of a later file would restore the
 * fake function.
 */
export function recordTimers(): readonly (number | undefined)[] {
  const timesMs: (number | undefined)[] = [];
  const fake = globalThis.setTimeout;
  const record = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    timesMs.push(ms);
    return fake(run, ms, ...args);
  };
  Object.assign(globalThis, { setTimeout: record });
  return timesMs;
}
