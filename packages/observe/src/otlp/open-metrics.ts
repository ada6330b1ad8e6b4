/**
 * Sends the metrics of `/metrics` to a collector at intervals, by the periodic reader of the SDK. Loaded only if
 * `otel.metrics` is set.
 */
import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import { type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { MetricsSnapshot } from '../print-metrics.ts';
import { describeResource } from './describe-resource.ts';
import { METRICS } from './encodings.ts';
import type { OpenSignal, SignalOptions } from './open-logs.ts';
import { OtlpExporter } from './otlp-exporter.ts';

export interface MetricsExportOptions extends SignalOptions {
  takeSnapshot: () => Promise<MetricsSnapshot>;
  /** Milliseconds since 1970. */
  clock: () => number;
}

const INTERVAL_MS = 60_000;
/** Number of data points in one export. Encoding them takes a few milliseconds. */
const EXPORTED_AT_ONCE = 1000;

export function openMetricsExport(options: MetricsExportOptions): OpenSignal {
  const { settings, egress, version, takeSnapshot, clock } = options;
  const startTime = millisToHrTime(clock());
  const resource = describeResource(settings, options);
  const scope = { name: 'erp-proxy', version };
  const otlp = new OtlpExporter(METRICS, settings, egress, options);
  const reader = new PeriodicExportingMetricReader({
    exporter: Object.assign(otlp, { selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE }),
    exportIntervalMillis: INTERVAL_MS,
    // The exporter has its own limit, which must end first.
    exportTimeoutMillis: Math.min(settings.timeoutMs + 1000, INTERVAL_MS),
    maxExportBatchSize: EXPORTED_AT_ONCE,
    metricProducers: [
      {
        async collect() {
          const times = { startTime, endTime: millisToHrTime(clock()) };
          const metrics = (await takeSnapshot()).flatMap((metric) => toMetricData(metric, times));
          return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] };
        },
      },
    ],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return {
    useHeaders: (headers) => otlp.sender.useHeaders(headers),
    async close(timeoutMs) {
      const closed = provider.shutdown().catch(() => {});
      if ((await waitFor(closed, { timeoutMs })) === TIMED_OUT) otlp.sender.abort();
    },
  };
}

interface Times {
  startTime: HrTime;
  endTime: HrTime;
}

type Metric = MetricsSnapshot[number];

/** A metric of prom-client as one of OpenTelemetry, with the same name. */
function toMetricData(metric: Metric, times: Times): MetricData[] {
  const descriptor = { name: metric.name, description: metric.help, unit: '', valueType: ValueType.DOUBLE };
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  // The types of prom-client are an enumeration, its values are texts.
  const type = String(metric.type);
  if (type === 'histogram') {
    return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: readHistograms(metric, times) }];
  }
  const dataPoints = metric.values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, labels }) => ({ ...times, attributes: readLabels(labels), value }));
  if (type === 'counter')
    return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
  return type === 'gauge' ? [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints }] : [];
}

/** prom-client has a value for each bucket, which includes the smaller ones, and values for sum and count. */
function readHistograms({ name, values }: Metric, times: Times): DataPoint<Histogram>[] {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((parts) => {
    const find = (suffix: string) => parts.find(({ metricName }) => metricName === name + suffix)?.value ?? 0;
    const count = find('_count');
    const buckets = parts
      .filter(
        ({ metricName, labels }) => metricName === `${name}_bucket` && Number.isFinite(Number(labels['le'])),
      )
      .map(({ labels, value }) => ({ boundary: Number(labels['le']), value }))
      .sort((one, other) => one.boundary - other.boundary);
    const cumulated = [...buckets.map(({ value }) => value), count];
    const { le: _, ...labels } = parts[0]?.labels ?? {};
    return {
      ...times,
      attributes: readLabels(labels),
      value: {
        buckets: {
          boundaries: buckets.map(({ boundary }) => boundary),
          counts: cumulated.map((value, at) => value - (cumulated[at - 1] ?? 0)),
        },
        sum: find('_sum'),
        count,
      },
    };
  });
}

function readLabels(labels: Partial<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]));
}
