/** The official encodings of the signals. */
import {
  type IExportLogsServiceResponse,
  type IExportMetricsServiceResponse,
  type IExportTraceServiceResponse,
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Encoding } from './otlp-exporter.ts';

export const SPANS: Encoding<ReadableSpan[], IExportTraceServiceResponse> = {
  signal: 'traces',
  json: JsonTraceSerializer,
  protobuf: ProtobufTraceSerializer,
  count: ({ length }) => length,
  readAnswer: ({ partialSuccess }) => readCount(partialSuccess?.rejectedSpans),
};

export const LOGS: Encoding<ReadableLogRecord[], IExportLogsServiceResponse> = {
  signal: 'logs',
  json: JsonLogsSerializer,
  protobuf: ProtobufLogsSerializer,
  count: ({ length }) => length,
  readAnswer: ({ partialSuccess }) => readCount(partialSuccess?.rejectedLogRecords),
};

export const METRICS: Encoding<ResourceMetrics, IExportMetricsServiceResponse> = {
  signal: 'metrics',
  json: JsonMetricsSerializer,
  protobuf: ProtobufMetricsSerializer,
  count: ({ scopeMetrics }) =>
    scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .reduce((sum, { dataPoints }) => sum + dataPoints.length, 0),
  readAnswer: ({ partialSuccess }) => readCount(partialSuccess?.rejectedDataPoints),
};

/** JSON has 64-bit numbers as texts. */
function readCount(rejected: number | string = 0): { rejected: number } {
  return { rejected: Number(rejected) };
}
