/**
 * Tests wait, delay and measure through this file only, because a test must not fail on a busy machine.
 * `architecture/test-time.test.ts` refuses all other ways. Programs that tests start use this file too, so it does not
 * import vitest. The rules:
 *
 * - Wait for what must happen with `expect.poll`, or for its promise. Never wait for a time in the hope that it is
 *   enough.
 * - Something that a test must not wait for is endless (`ENDLESS_MS`, or a stand-in that never answers), so that a test
 *   that waits for it ends at the time limit of all tests. That limit is a safety net, and no promise of the product.
 * - To show that something waits, use a lower bound (`measureMs`), or a clock that is passed in.
 * - Measure speed as a ratio within one run (`expectCpuBelow`), or as a number of reads, turns, calls or bytes. To show
 *   that a thread does not wait for a lock or a disk, use `watchBlocks`.
 * - A stand-in that is slow on purpose waits for the test, not for a time. A random order comes from `pauseAtRandom`.
 * - To show that nothing happens, use `expectToStay`.
 * - Calls that must succeed get long time limits in the settings of the product; only calls that must time out get
 *   short ones.
 * - Find a record by its content, not by its position: other records may be in between.
 * - Use free ports (`port: 0`). Remove a folder only after everything that uses it is closed.
 * - A random test prints its seed. A test that has failed once by chance is fixed at its cause.
 */
import { deepStrictEqual, fail } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readThreadCpuMs } from './thread-cpu.ts';

/** A short time: other work of this process can run meanwhile. No test may depend on what is done within it. */
export const MOMENT_MS = 20;
/**
 * Longer than any test may run. Something that a test must not wait for takes this long, so that a test that waits
 * times out.
 */
export const ENDLESS_MS = 600_000;
/**
 * How long a test checks that nothing happens. A busy machine can hide a fault from this check, but not make it fail.
 */
const QUIET_MS = 300;

/** Lets other work run for a number of turns of the event loop. */
export async function passTurns(count = 1): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/**
 * Waits at least `ms` milliseconds. For timers of the product that take no clock, and for stand-ins that answer late.
 * To wait until something has happened, use `expect.poll`.
 */
export async function pause(ms: number = MOMENT_MS): Promise<void> {
  await sleep(ms);
}

/** Waits for a random time, to make a random order of simultaneous events. */
export async function pauseAtRandom(random: () => number, maxMs: number = MOMENT_MS): Promise<void> {
  await sleep(random() * maxMs);
}

/** Runs an action after at least that time, for stand-ins that act late. */
export function runLater(ms: number, action: () => unknown): void {
  setTimeout(action, ms);
}

/** Reads a value for a while, and fails as soon as it is not equal to the expected value. */
export async function expectToStay<Value>(
  read: () => Value,
  expected: Value,
  ms: number = QUIET_MS,
): Promise<void> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; await sleep(MOMENT_MS)) {
    deepStrictEqual(read(), expected);
  }
}

/** The monotonic clock, for code that takes a clock. A test that compares two readings uses `measureMs`. */
export function monotonicMs(): number {
  return performance.now();
}

/**
 * Real time of the work. Only lower bounds hold on a busy machine: use it to show that the work waited for something.
 */
export async function measureMs(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Interval at which the event loop is checked. */
const LOOK_MS = 1;

export interface BlockWatch {
  /** The longest block since the last call of this function, in milliseconds. */
  readLongestMs(): number;
  close(): void;
}

/**
 * Watches for how long this thread blocks its event loop, also while the thread sleeps, for example when it waits for a
 * lock. The time that the thread waited for a processor does not count. For short work, use `measureBlocking`, which is
 * more exact.
 */
export function watchBlocks(): BlockWatch {
  let longestMs = 0;
  let lastMs = readUndisturbedMs();
  const look = () => {
    const nowMs = readUndisturbedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    readLongestMs() {
      look();
      const readMs = longestMs;
      longestMs = 0;
      return readMs;
    },
    close: () => clearInterval(timer),
  };
}

/** A file in which Linux counts for how long a thread was ready while others had the processors. */
const SCHEDULED = '/proc/thread-self/schedstat';
const isScheduledKnown = existsSync(SCHEDULED);

/**
 * Real time minus the time for which this thread waited for a processor. Where that time is not known, processor time.
 */
function readUndisturbedMs(): number {
  if (!isScheduledKnown) return readThreadCpuMs();
  const [, waitedNs] = readFileSync(SCHEDULED, 'latin1').split(' ');
  return performance.now() - Number(waitedNs) / 1e6;
}

/** Processor time of this thread for the work, which other programs do not lengthen. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const startMs = readThreadCpuMs();
  await work();
  return readThreadCpuMs() - startMs;
}

/** Rounds that always run, since the first ones also compile code. */
const ROUNDS_MIN = 2;
const ROUNDS_MAX = 30;

/**
 * Fails unless the work takes less than `times` times the processor time of the reference. Work and reference run once
 * in each round, and the shortest time of each counts. A disturbance, such as a garbage collection, only lengthens the
 * time of a round. So more rounds follow while the ratio is too large, and only work that is never fast enough fails.
 */
export async function expectCpuBelow(
  times: number,
  work: () => unknown,
  reference: () => unknown,
  about = 'the work',
): Promise<void> {
  let [workMs, referenceMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    referenceMs = Math.min(referenceMs, await measureCpuMs(reference));
    workMs = Math.min(workMs, await measureCpuMs(work));
    if (round >= ROUNDS_MIN && workMs < times * Math.max(referenceMs, 0.001)) return;
  }
  fail(
    `${about} took ${workMs} ms, which is not below ${times} times the ${referenceMs} ms of its reference`,
  );
}
