import fc from 'fast-check';
import { AggregatorRegistry, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { DurationHistogram, type DurationSeries } from './duration-histogram.ts';

const NAME = 'some_duration_seconds';
const HELP = 'A duration.';
const LABEL_NAMES = ['class', 'upstream'];
const BUCKETS = [0.001, 0.0025, 0.1, 1, 60];

const text = fc.string({ maxLength: 6 });
const seconds = fc.oneof(
  fc.constantFrom(0, ...BUCKETS),
  fc.double({ min: 0, max: 100, noNaN: true, noDefaultInfinity: true }),
);

/** Registers observations with prom-client's own histogram and with ours. */
function register(observations: readonly [string, string, number][]): { theirs: Registry; ours: Registry } {
  const theirs = new Registry();
  const ours = new Registry();
  const histogram = new Histogram({
    name: NAME,
    help: HELP,
    labelNames: LABEL_NAMES,
    buckets: BUCKETS,
    registers: [theirs],
  });
  const durations = new DurationHistogram({
    registry: ours,
    name: NAME,
    help: HELP,
    labelNames: LABEL_NAMES,
    bucketsSeconds: BUCKETS,
  });
  const series = new Map<string, DurationSeries>();
  for (const [name, upstream, value] of observations) {
    const key = JSON.stringify([name, upstream]);
    if (!series.has(key)) series.set(key, durations.add({ class: name, upstream }));
    series.get(key)?.observe(value);
    histogram.observe({ class: name, upstream }, value);
  }
  return { theirs, ours };
}

test('a scrape shows what the histogram of prom-client shows', async () => {
  const observation = fc.tuple(fc.constantFrom('read', 'write'), text, seconds);
  await fc.assert(
    fc.asyncProperty(fc.array(observation, { maxLength: 30 }), async (observations) => {
      const { theirs, ours } = register(observations);
      expect(readLines(await ours.metrics())).toEqual(readLines(await theirs.metrics()));
    }),
  );
});

test('the sums over several workers are those of prom-client', async () => {
  const first = register([
    ['read', 'a', 0.002],
    ['read', 'a', 5],
  ]);
  const second = register([
    ['read', 'a', 0.1],
    ['write', 'b', 100],
  ]);
  const add = async (registries: Registry[]) => {
    const snapshots = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
    return AggregatorRegistry.aggregate(structuredClone(snapshots)).metrics();
  };
  expect(readLines(await add([first.ours, second.ours]))).toEqual(
    readLines(await add([first.theirs, second.theirs])),
  );
});

test('a series without observations is not shown', async () => {
  const { ours } = register([]);
  expect(readLines(await ours.metrics())).toEqual([`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`]);
});

/** The order of series with names like numbers differs. */
function readLines(text: string): string[] {
  return text.split('\n').filter(Boolean).toSorted();
}
