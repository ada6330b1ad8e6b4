/**
 * Prometheus metrics: those of event-metrics.ts, of source-metrics.ts and of Node.js. With several workers, each scrape
 * combines the metrics of all workers.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { DatabaseLabels } from './database-labels.ts';
import { measureEventLoopLag } from './event-loop-lag.ts';
import { type EventMetricsOptions, registerEventMetrics } from './event-metrics.ts';
import type { EventHandlers } from './events.ts';
import { type MetricsSnapshot, printMetrics, takeSnapshot } from './print-metrics.ts';
import { type MetricSources, registerSourceMetrics } from './source-metrics.ts';

export interface Metrics {
  /** The handlers that update the metrics. */
  readonly events: EventHandlers;
  readonly contentType: string;
  /** The text of `GET /metrics`. */
  render(): Promise<string>;
  /** The metrics of this process. */
  takeSnapshot(): Promise<MetricsSnapshot>;
}

/**
 * Takes a function that takes the snapshot of this process. Returns a function that prints the metrics of all workers.
 */
export type GatherMetrics = (takeOwn: () => Promise<MetricsSnapshot>) => () => Promise<string>;

export interface MetricsOptions extends Omit<EventMetricsOptions, 'databaseLabels'> {
  sources: MetricSources;
  /** Set only in one of several workers. */
  gather?: GatherMetrics | undefined;
}

/** Interval of prom-client's own measurement of the event loop: effectively never (see event-loop-lag.ts). */
const DAY_MS = 86_400_000;

export function createMetrics({ sources, gather, ...options }: MetricsOptions): Metrics {
  const registry = new Registry();
  const databaseLabels = new DatabaseLabels(sources.now);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: DAY_MS });
  const lag = measureEventLoopLag(registry);
  registerSourceMetrics(registry, sources, databaseLabels);
  const handlers = registerEventMetrics(registry, { ...options, databaseLabels });
  const printAll = gather?.(() => takeSnapshot(registry)) ?? (() => printMetrics(registry));
  return {
    events: {
      ...handlers,
      requestStarted() {
        handlers.requestStarted?.();
        lag.requestStarted();
      },
      requestEnded() {
        handlers.requestEnded?.();
        lag.requestEnded();
      },
    },
    contentType: registry.contentType,
    render: printAll,
    takeSnapshot: () => takeSnapshot(registry),
  };
}
