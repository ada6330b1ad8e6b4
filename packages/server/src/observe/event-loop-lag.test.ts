import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { measureEventLoopLag } from './event-loop-lag.ts';
import { printMetrics } from './print-metrics.ts';

const SUFFIXES = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

async function read(registry: Registry, suffix: string): Promise<number> {
  const metric = await registry.getSingleMetric(`nodejs_eventloop_lag_${suffix}_seconds`)?.get();
  return metric?.values[0]?.value ?? Number.NaN;
}

test('measures while requests run and shortly after them, and then lets the process rest', async () => {
  const lag = measureEventLoopLag(new Registry());
  expect(lag.isMeasuring).toBe(false);
  lag.requestStarted();
  expect(lag.isMeasuring).toBe(true);
  lag.requestEnded();
  expect(lag.isMeasuring).toBe(true);
  await expect.poll(() => lag.isMeasuring, { timeout: 20_000 }).toBe(false);
  lag.requestStarted();
  expect(lag.isMeasuring).toBe(true);
});

test('shows the delays since the last scrape, and 0 at rest', async () => {
  const registry = new Registry();
  const lag = measureEventLoopLag(registry);
  for (const suffix of SUFFIXES) expect(await read(registry, suffix)).toBe(0);

  lag.requestStarted();
  await sleep(200);
  const busyUntilMs = performance.now() + 200;
  while (performance.now() < busyUntilMs);
  await sleep(200);
  const text = await printMetrics(registry);
  const longest = Number(/^nodejs_eventloop_lag_max_seconds (.*)$/m.exec(text)?.[1]);
  const shortest = Number(/^nodejs_eventloop_lag_min_seconds (.*)$/m.exec(text)?.[1]);
  // The delay began up to a measuring interval (50 ms) after the last measurement.
  expect(longest).toBeGreaterThan(0.14);
  // Without a delay, the interval itself does not show.
  expect(shortest).toBeLessThan(longest);
  expect(await read(registry, 'max')).toBeLessThan(longest);
});
