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

/** Lines that are printed without a pause: a few milliseconds. */
const SLICE_LINES = 500;

export async function printMetrics(registry: Registry): Promise<string> {
  return printSnapshot(await takeSnapshot(registry));
}

/** Collects all metrics in one turn, which takes little time. Those of the event loop are reset after it. */
export async function takeSnapshot(registry: Registry): Promise<MetricsSnapshot> {
  return (await registry.getMetricsAsJSON()) as MetricsSnapshot;
}

/** Combines the metrics of several processes, each by its aggregator. */
export async function printCombined(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  const combined: MetricWithValues[] = [];
  for (const metrics of Map.groupBy(snapshots.flat(), ({ name }) => name).values()) {
    combined.push(...(await takeSnapshot(AggregatorRegistry.aggregate(metrics.map((metric) => [metric])))));
    await nextTurn();
  }
  return printSnapshot(combined);
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
    // The first two lines are HELP and TYPE, which a metric has once. The last one is empty.
    lines.push(...text.split('\n').slice(start === 0 ? 0 : 2, -1));
    await nextTurn();
  }
  return lines.join('\n');
}
