/**
 * Reads and prints metrics in the text format of Prometheus, with pauses: with a hundred upstreams a scrape has
 * thousands of lines. The text is that of prom-client, which prints in one turn of the event loop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from 'prom-client';

/** The metrics of one process, in a form that structured clone accepts. */
export type MetricsSnapshot = readonly MetricWithValues[];

type MetricWithValues = MetricObjectWithValues<MetricValueWithName<string>>;

/** Lines that are printed without a pause: a few milliseconds. */
const SLICE_LINES = 500;

export async function printMetrics(registry: Registry): Promise<string> {
  const texts: string[] = [];
  for await (const metric of readMetrics(registry)) texts.push(await printMetric(metric));
  return `${texts.join('\n\n')}\n`;
}

export async function takeSnapshot(registry: Registry): Promise<MetricsSnapshot> {
  const metrics: MetricWithValues[] = [];
  for await (const metric of readMetrics(registry)) metrics.push(metric);
  return metrics;
}

/** Combines the metrics of several processes, each by its aggregator. Does so in one turn. */
export function printCombined(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return printMetrics(AggregatorRegistry.aggregate([...snapshots]));
}

async function* readMetrics(registry: Registry): AsyncGenerator<MetricWithValues> {
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = await registry.getSingleMetric(name)?.get();
    if (metric === undefined) continue;
    yield metric as MetricWithValues;
    await nextTurn();
  }
}

async function printMetric({ name, help, type, values }: MetricWithValues): Promise<string> {
  const lines = [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`];
  for (const [index, sample] of values.entries()) {
    if (index % SLICE_LINES === SLICE_LINES - 1) await nextTurn();
    lines.push(printSample(name, sample));
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
