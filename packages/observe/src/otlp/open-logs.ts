/**
 * Sends the lines of the log to a collector, with the same members as on standard output. Keeps them in a bounded queue
 * of the SDK, and exports them in the background. Loaded only if `otel.logs` is set.
 */
import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import type { EgressDispatcher } from '@erp-proxy/egress';
import { type AnyValue, SeverityNumber } from '@opentelemetry/api';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import type { LogCopy } from '../log.ts';
import { describeResource, type ResourceOptions } from './describe-resource.ts';
import { LOGS } from './encodings.ts';
import { type ExportNotices, OtlpExporter } from './otlp-exporter.ts';
import type { OtlpOptions } from './otlp-sender.ts';

export interface SignalOptions extends ExportNotices {
  settings: OtlpOptions & ResourceOptions;
  egress: EgressDispatcher;
  version: string;
  /** Unique for this process. */
  process: string;
}

export interface OpenSignal {
  /** Sends these headers to the collector from now on: texts `name=value`, with %-escapes. */
  useHeaders(headers: readonly string[]): void;
  /** Exports what waits, for at most `timeoutMs`. Never rejects. */
  close(timeoutMs: number): Promise<void>;
}

/** Maximum number of records that wait for their export. Further records are lost. */
const WAITING_MAX = 2048;
/** Number of records in one export. Encoding them takes a few milliseconds. */
const EXPORTED_AT_ONCE = 256;
const DELAY_MS = 1000;
const VALUE_LENGTH_MAX = 8192;

const SEVERITIES = { info: SeverityNumber.INFO, warn: SeverityNumber.WARN, error: SeverityNumber.ERROR };

export function openLogs(options: SignalOptions): OpenSignal & { copy: LogCopy } {
  const { settings, egress, version } = options;
  const exporter = new OtlpExporter(LOGS, settings, egress, options);
  const provider = new LoggerProvider({
    resource: describeResource(settings, options),
    logRecordLimits: { attributeValueLengthLimit: VALUE_LENGTH_MAX },
    processors: [
      new BatchLogRecordProcessor({
        exporter,
        maxQueueSize: WAITING_MAX,
        maxExportBatchSize: EXPORTED_AT_ONCE,
        scheduledDelayMillis: DELAY_MS,
        // The exporter has its own limit, which must end first.
        exportTimeoutMillis: settings.timeoutMs + 1000,
      }),
    ],
  });
  const logger = provider.getLogger('erp-proxy', version);
  return {
    copy(level, message, fields) {
      logger.emit({
        severityNumber: SEVERITIES[level],
        severityText: level.toUpperCase(),
        body: message,
        attributes: describeFields(fields),
      });
    },
    useHeaders: (headers) => exporter.sender.useHeaders(headers),
    async close(timeoutMs) {
      const closed = provider.shutdown().catch(() => {});
      if ((await waitFor(closed, { timeoutMs })) === TIMED_OUT) exporter.sender.abort();
    },
  };
}

/** `requestId` → `erp_proxy.request_id`, as the attributes of spans. Errors follow the semantic conventions. */
function describeFields(fields: object): Record<string, AnyValue> {
  const attributes: Record<string, AnyValue> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined) continue;
    if (name === 'err') Object.assign(attributes, describeException(value));
    else {
      const words = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      attributes[`erp_proxy.${words}`] = typeof value === 'object' ? JSON.stringify(value) : value;
    }
  }
  return attributes;
}

function describeException(error: unknown): Record<string, AnyValue> {
  if (typeof error !== 'object' || error === null) return { 'exception.message': String(error) };
  const { type, message, stack } = error as Record<string, unknown>;
  return {
    'exception.type': String(type),
    'exception.message': String(message),
    ...(stack === undefined ? null : { 'exception.stacktrace': String(stack) }),
  };
}
