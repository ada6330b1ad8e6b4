import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { blockThread } from '../../async/test/block-thread.ts';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { pause } from '../../server/test/time.ts';
import { measureEventLoopLag } from './event-loop-lag.ts';
import { printMetrics } from './print-metrics.ts';

/** The delays are measured every 50 ms. */
const LONGER_THAN_INTERVAL_MS = 100;
const BLOCKED_MS = 200;
const SUFFIXES = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

async function read(registry: Registry, suffix: string): Promise<number> {
  const metric = await registry.getSingleMetric(`nodejs_eventloop_lag_${suffix}_seconds`)?.get();
  return metric?.values[0]?.value ?? Number.NaN;
}

test('measures while requests run and shortly after them, and then lets the process rest', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const lag = measureEventLoopLag(new Registry());
  expect(lag.isMeasuring).toBe(false);
  lag.requestStarted();
  expect(lag.isMeasuring).toBe(true);
  lag.requestEnded();
  expect(lag.isMeasuring).toBe(true);
  vi.advanceTimersByTime(999);
  expect(lag.isMeasuring).toBe(true);
  vi.advanceTimersByTime(1);
  expect(lag.isMeasuring).toBe(false);
  lag.requestStarted();
  expect(lag.isMeasuring).toBe(true);
});

test('shows the delays since the last scrape, and 0 at rest', async () => {
  const registry = new Registry();
  const lag = measureEventLoopLag(registry);
  for (const suffix of SUFFIXES) expect(await read(registry, suffix)).toBe(0);

  lag.requestStarted();
  await pause(LONGER_THAN_INTERVAL_MS);
  blockThread(BLOCKED_MS);
  await pause(LONGER_THAN_INTERVAL_MS);
  const text = await printMetrics(registry);
  const longest = Number(/^nodejs_eventloop_lag_max_seconds (.*)$/m.exec(text)?.[1]);
  const shortest = Number(/^nodejs_eventloop_lag_min_seconds (.*)$/m.exec(text)?.[1]);
  // The delay began up to a measuring interval (50 ms) after the last measurement.
  expect(longest).toBeGreaterThan(0.14);
  // The interval itself does not count as a delay.
  expect(shortest).toBeLessThan(longest);
  await expect.poll(() => read(registry, 'max')).toBeLessThan(longest);
});
