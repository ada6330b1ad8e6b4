/** Metrics of a process, and of all workers of a server. */
export { createMetrics, type GatherMetrics, type Metrics } from '../metrics.ts';
export { type MetricsSnapshot, printCombined } from '../print-metrics.ts';
export type { MetricSources } from '../source-metrics.ts';
export { snapshotWorkers } from '../worker-metrics.ts';
