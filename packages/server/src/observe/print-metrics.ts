/**
 * Prints metrics in the text format of Prometheus, with pauses: with a hundred upstreams a scrape has thousands of
 * lines. The text is that of prom-client, which prints in one turn of the event loop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from 'prom-client';
import { createPauses } from '../streams/create-pauses.ts';

/** The metrics of one process, in a form that structured clone accepts. */
export type MetricsSnapshot = readonly MetricWithValues[];

type MetricWithValues = MetricObjectWithValues<MetricValueWithName<string>>;

/** Lines that are printed without a pause: a few milliseconds. */
const SLICE_LINES = 500;

export async function printMetrics(registry: Registry): Promise<string> {
  const texts: string[] = [];
  for (const metric of await takeSnapshot(registry)) {
    texts.push(await printMetric(metric));
    await nextTurn();
  }
  return join(texts);
}

/** Collects all metrics in one turn, which takes little time. Those of the event loop are reset after it. */
export async function takeSnapshot(registry: Registry): Promise<MetricsSnapshot> {
  return (await registry.getMetricsAsJSON()) as MetricsSnapshot;
}

/** Combines the metrics of several processes, each by its aggregator. */
export async function printCombined(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  const texts: string[] = [];
  for (const metrics of Map.groupBy(snapshots.flat(), ({ name }) => name).values()) {
    const combined = await takeSnapshot(AggregatorRegistry.aggregate(metrics.map((metric) => [metric])));
    for (const metric of combined) texts.push(await printMetric(metric));
    await nextTurn();
  }
  return join(texts);
}

function join(texts: readonly string[]): string {
  return `${texts.join('\n\n')}\n`;
}

async function printMetric({ name, help, type, values }: MetricWithValues): Promise<string> {
  const lines = [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`];
  const pauseAfter = createPauses(SLICE_LINES);
  for (const sample of values) {
    lines.push(printSample(name, sample));
    await pauseAfter(1);
  }
  return lines.join('\n');
}

function printSample(
  name: string,
  { metricName = name, labels, value }: MetricValueWithName<string>,
): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeQuoted(String(text))}"`);
  return `${metricName}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${printNumber(value)}`;
}

function printNumber(value: number): string {
  return Math.abs(value) === Number.POSITIVE_INFINITY ? (value < 0 ? '-Inf' : '+Inf') : String(value);
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeQuoted(text: string): string {
  return escapeText(text).replaceAll('"', '\\"');
}
