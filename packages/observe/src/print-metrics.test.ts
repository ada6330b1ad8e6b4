import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { countTurns } from '../../server/test/watch-turns.ts';
import { printCombined, printMetrics, takeSnapshot } from './print-metrics.ts';

/** Creates a registry with a metric of each kind, with names that need escapes. */
function createRegistry(): Registry {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({ name: 'plain', help: 'A "help" with \\ and\na line.', registers }).set(1.5);
  new Gauge({ name: 'not_set', help: 'None.', labelNames: ['a'], registers });
  const counter = new Counter({ name: 'odd_total', help: 'Odd.', labelNames: ['db', 'other'], registers });
  for (const db of ['a"b', 'a\\b', 'a\nb', '{db="x"}', 'größe 🙂', '']) counter.inc({ db, other: 'x' }, 1e21);
  const limits = new Gauge({ name: 'limits', help: 'Limits.', labelNames: ['end'], registers });
  limits.set({ end: 'above' }, Number.POSITIVE_INFINITY);
  limits.set({ end: 'below' }, Number.NEGATIVE_INFINITY);
  const histogram = new Histogram({
    name: 'sizes',
    help: 'Sizes.',
    labelNames: ['of'],
    buckets: [1, 2],
    registers,
  });
  histogram.observe({ of: 'it' }, 1.5);
  return registry;
}

test('prints what prom-client prints', async () => {
  const registry = createRegistry();
  expect(await printMetrics(registry)).toBe(await registry.metrics());
});

test('prints the numbers of several processes together', async () => {
  const snapshot = structuredClone(await takeSnapshot(createRegistry()));
  const text = await printCombined([snapshot, snapshot]);
  expect(text).toContain('plain 3\n');
  expect(text).toContain('sizes_count{of="it"} 2\n');
});

test('other callers run while the numbers of several processes are combined', async () => {
  const registry = new Registry();
  for (let index = 0; index < 50; index++)
    new Counter({ name: `counter_${index}`, help: 'One.', registers: [registry] }).inc();
  const snapshot = await takeSnapshot(registry);
  let text = '';
  const turns = await countTurns(async () => {
    text = await printCombined([snapshot, snapshot]);
  });
  expect(text).toContain('counter_49 2\n');
  expect(turns).toBeGreaterThanOrEqual(50);
});

test('other callers run while thousands of numbers of one metric are combined', async () => {
  const createCounter = (start: number, order: (labels: object) => object) => {
    const registry = new Registry();
    const registers = [registry];
    const large = new Counter({ name: 'large', help: 'Large.', labelNames: ['index', 'of'], registers });
    for (let index = start; index < start + 5000; index++) large.inc(order({ index, of: 'it' }));
    return registry;
  };
  const reverse = (labels: object) => Object.fromEntries(Object.entries(labels).reverse());
  const snapshots = await Promise.all([
    takeSnapshot(createCounter(0, (labels) => labels)),
    takeSnapshot(createCounter(2500, reverse)),
  ]);
  let text = '';
  const turns = await countTurns(async () => {
    text = await printCombined(snapshots);
  });
  const lines = text.split('\n').filter((line) => line.startsWith('large{'));
  expect(lines).toHaveLength(7500);
  expect(lines.filter((line) => line.endsWith(' 2'))).toHaveLength(2500);
  // Each of the fifteen slices takes a turn to combine and a turn to print.
  expect(turns).toBeGreaterThanOrEqual(30);
});

test('other callers run while thousands of lines are printed', async () => {
  const registry = new Registry();
  const registers = [registry];
  const large = new Counter({ name: 'large', help: 'Large.', labelNames: ['index'], registers });
  for (let index = 0; index < 5000; index++) large.inc({ index });
  let text = '';
  const turns = await countTurns(async () => {
    text = await printMetrics(registry);
  });
  expect(text).toBe(await registry.metrics());
  expect(turns).toBeGreaterThanOrEqual(10);
});
