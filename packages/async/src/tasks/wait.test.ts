import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { countOwnTimers } from '../../../server/test/own-timers.ts';
import { ABORTED, delay, TIMED_OUT, waitFor } from './wait.ts';

const TIMEOUT_MS = 100;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const countListeners = (...signals: AbortSignal[]) =>
  signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0);

/** Lets the time limit pass, and one turn of the event loop. */
async function passTime(): Promise<void> {
  vi.advanceTimersByTime(TIMEOUT_MS);
  await turn();
}

/** The outcome of a wait, rejections included; `pending` if there is none yet. */
async function readOutcome(wait: Promise<unknown>): Promise<unknown> {
  const settled = wait.then(
    (value) => value,
    (error: unknown) => ({ error }),
  );
  const pending = Promise.resolve().then(() => Promise.resolve().then(() => 'pending'));
  return Promise.race([settled, pending]);
}

/** Lets promises settle that are due. */
async function flush(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

const ENDINGS = ['resolve', 'reject', 'abort', 'time out'] as const;
type Ending = (typeof ENDINGS)[number];
const failure = new Error('refused');
const OUTCOMES: Record<Ending, unknown> = {
  resolve: 'value',
  reject: { error: failure },
  abort: ABORTED,
  'time out': TIMED_OUT,
};

describe('waitFor', () => {
  test('takes the outcome that comes first, in any order, and leaves no timer or listener', async () => {
    const countTimers = countOwnTimers();
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...ENDINGS], { minLength: 1 }), async (order) => {
        const asked = Promise.withResolvers<string>();
        const controller = new AbortController();
        const run: Record<Ending, () => unknown> = {
          resolve: () => asked.resolve('value'),
          reject: () => asked.reject(failure),
          abort: () => controller.abort(),
          'time out': passTime,
        };
        const wait = waitFor(asked.promise, { signal: controller.signal, timeoutMs: TIMEOUT_MS });
        expect(await readOutcome(wait)).toBe('pending');
        for (const [index, ending] of order.entries()) {
          await run[ending]();
          await flush();
          expect(await readOutcome(wait)).toEqual(OUTCOMES[order[0] as Ending]);
          expect(countListeners(controller.signal), `after ${index + 1} endings`).toBe(0);
          expect(countTimers()).toBe(0);
        }
      }),
    );
  });

  test('gives up at once if the signal is aborted already, and ignores a later rejection', async () => {
    const countTimers = countOwnTimers();
    const asked = Promise.withResolvers<string>();
    const signal = AbortSignal.abort();
    expect(await waitFor(asked.promise, { signal, timeoutMs: TIMEOUT_MS })).toBe(ABORTED);
    asked.reject(failure);
    await flush();
    expect(countListeners(signal)).toBe(0);
    expect(countTimers()).toBe(0);
  });

  test('needs only one of signal and time limit', async () => {
    const { promise } = Promise.withResolvers<string>();
    const controller = new AbortController();
    const [bySignal, byTime] = [
      waitFor(promise, { signal: controller.signal }),
      waitFor(promise, { timeoutMs: TIMEOUT_MS }),
    ];
    await passTime();
    expect(await byTime).toBe(TIMED_OUT);
    expect(await readOutcome(bySignal)).toBe('pending');
    controller.abort();
    expect(await bySignal).toBe(ABORTED);
  });

  test('prefers an answer that arrived while the process was busy to its time-out', async () => {
    const asked = Promise.withResolvers<string>();
    const wait = waitFor(asked.promise, { timeoutMs: TIMEOUT_MS });
    vi.advanceTimersByTime(TIMEOUT_MS);
    asked.resolve('value');
    expect(await wait).toBe('value');
  });
});

describe('delay', () => {
  test('ends with its time or the first signal, in any order, and leaves no timer or listener', async () => {
    const countTimers = countOwnTimers();
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 3 }),
        fc.shuffledSubarray(['time', 0, 1, 2] as const, { minLength: 1 }),
        async (signalCount, order) => {
          const controllers = Array.from({ length: signalCount }, () => new AbortController());
          const signals = controllers.map(({ signal }) => signal);
          const wait = delay(TIMEOUT_MS, ...signals);
          let isOver = false;
          for (const ending of order) {
            if (ending === 'time') vi.advanceTimersByTime(TIMEOUT_MS);
            else controllers[ending]?.abort();
            isOver ||= ending === 'time' || ending < signalCount;
            await flush();
            expect(await readOutcome(wait)).toBe(isOver ? undefined : 'pending');
            expect(countListeners(...signals)).toBe(isOver ? 0 : signalCount);
            expect(countTimers()).toBe(isOver ? 0 : 1);
          }
          vi.advanceTimersByTime(TIMEOUT_MS);
          await wait;
        },
      ),
    );
  });

  test('does not wait at all if a signal is aborted already', async () => {
    const countTimers = countOwnTimers();
    const open = new AbortController();
    await delay(TIMEOUT_MS, open.signal, AbortSignal.abort());
    expect(countListeners(open.signal)).toBe(0);
    expect(countTimers()).toBe(0);
  });
});
