/**
 * Prints metrics in the text format of Prometheus, with pauses: with a hundred upstreams a scrape has thousands of
 * lines, which prom-client would print in one turn of the event loop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  AggregatorRegistry,
  type Metric,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from 'prom-client';

/** The metrics of one process, in a form that structured clone accepts. */
export type MetricsSnapshot = readonly MetricWithValues[];

type MetricWithValues = MetricObjectWithValues<MetricValueWithName<string>>;

/** Number of lines that are printed without a pause, which takes a few milliseconds. */
const SLICE_LINES = 500;

export async function printMetrics(registry: Registry): Promise<string> {
  return printSnapshot(await takeSnapshot(registry));
}

/**
 * Collects all metrics in one turn of the event loop, which takes little time. The metrics of the event loop are then
 * reset.
 */
export async function takeSnapshot(registry: Registry): Promise<MetricsSnapshot> {
  return (await registry.getMetricsAsJSON()) as MetricsSnapshot;
}

/** Combines the metrics of several processes, each metric by its aggregator, and prints them. */
export async function printCombined(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  const combined: MetricWithValues[] = [];
  for (const metrics of Map.groupBy(snapshots.flat(), ({ name }) => name).values())
    combined.push(...(await combine(metrics)));
  return printSnapshot(combined);
}

/** Combines one metric of several processes. All values with the same labels are in the same slice. */
async function combine(metrics: MetricsSnapshot): Promise<MetricsSnapshot> {
  const places = new Map<string, number>();
  const slices: MetricWithValues[][] = [];
  for (const metric of metrics) {
    // A metric without values is also printed.
    for (let start = 0; start === 0 || start < metric.values.length; start += SLICE_LINES) {
      const parts = Map.groupBy(metric.values.slice(start, start + SLICE_LINES), (value) => {
        const key = nameSeries(value);
        const place = places.get(key) ?? places.size;
        places.set(key, place);
        return Math.floor(place / SLICE_LINES);
      });
      if (parts.size === 0) parts.set(0, []);
      for (const [index, values] of parts) {
        slices[index] ??= [];
        slices[index].push({ ...metric, values });
      }
      await nextTurn();
    }
  }
  const combined: MetricsSnapshot[] = [];
  for (const slice of slices) {
    combined.push(await takeSnapshot(AggregatorRegistry.aggregate(slice.map((metric) => [metric]))));
    await nextTurn();
  }
  // The result is empty if the aggregator of the metric omits it.
  const [first] = combined.flat();
  return first === undefined ? [] : [{ ...first, values: combined.flat().flatMap(({ values }) => values) }];
}

/** A name that is the same for values that prom-client combines: labels are texts, in any order. */
function nameSeries({ metricName = '', labels }: MetricValueWithName<string>): string {
  let name = metricName;
  for (const label of Object.keys(labels).sort())
    if (labels[label] !== undefined) name += `\n${label}\n${labels[label]}`;
  return name;
}

async function printSnapshot(snapshot: MetricsSnapshot): Promise<string> {
  const texts: string[] = [];
  for (const metric of snapshot) texts.push(await printMetric(metric));
  return `${texts.join('\n\n')}\n`;
}

async function printMetric(metric: MetricWithValues): Promise<string> {
  const lines: string[] = [];
  for (let start = 0; start === 0 || start < metric.values.length; start += SLICE_LINES) {
    const slice = { ...metric, values: metric.values.slice(start, start + SLICE_LINES) };
    const registry = new Registry();
    registry.registerMetric({ ...slice, get: async () => slice } as unknown as Metric);
    const text = await registry.metrics();
    // The first two lines are HELP and TYPE, which a metric has once. The last line is empty.
    lines.push(...text.split('\n').slice(start === 0 ? 0 : 2, -1));
    await nextTurn();
  }
  return lines.join('\n');
}
