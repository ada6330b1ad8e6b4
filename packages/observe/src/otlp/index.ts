/** Traces, logs and metrics for a collector of OpenTelemetry. Loaded only if one of them is on. */
export { describeResource } from './describe-resource.ts';
export { SPANS } from './encodings.ts';
export { type OpenSignal, openLogs, type SignalOptions } from './open-logs.ts';
export { openMetricsExport } from './open-metrics.ts';
export { openRecordSender } from './open-record-sender.ts';
export { OtlpExporter } from './otlp-exporter.ts';
