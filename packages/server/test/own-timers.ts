/**
 * Counts the timers of one test. `vi.getTimerCount()` counts those of the whole process, which other files use too: work
 * that an earlier file began can set a timer.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** What runs on behalf of a test has the object of that test. */
const running = new AsyncLocalStorage<object>();

/**
 * Call it in the test, after `vi.useFakeTimers()`, whose end also ends the counting. Returns a function that tells how
 * many timers the test and what it called have set since, without those that were cleared or have run.
 */
export function countOwnTimers(): () => number {
  const test = {};
  running.enterWith(test);
  const timers = new Set<unknown>();
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  const add = <Timer>(timer: Timer): Timer => {
    if (running.getStore() === test) timers.add(timer);
    return timer;
  };
  Object.assign(globalThis, {
    setTimeout(act: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        act(...args);
      }, ms);
      return add(timer);
    },
    setInterval: (...args: Parameters<typeof setInterval>) => add(setInterval(...args)),
    clearTimeout(timer: NodeJS.Timeout) {
      timers.delete(timer);
      clearTimeout(timer);
    },
    clearInterval(timer: NodeJS.Timeout) {
      timers.delete(timer);
      clearInterval(timer);
    },
  });
  return () => timers.size;
}
