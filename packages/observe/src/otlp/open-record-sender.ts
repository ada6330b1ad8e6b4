/**
 * Sends records that must not be lost to a collector, as logs: the caller waits for the answer, and repeats what was
 * not delivered. Nothing is kept in a queue.
 */
import { type AnyValue, SeverityNumber } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { describeResource } from './describe-resource.ts';
import { LOGS } from './encodings.ts';
import type { SignalOptions } from './open-logs.ts';
import { OtlpExporter } from './otlp-exporter.ts';

export interface SentRecord {
  /** Milliseconds since 1970. */
  at: number;
  body: string;
  attributes: Record<string, AnyValue>;
}

export interface RecordSender {
  /** Rejects with the reason if the collector may not have taken all of them. */
  send(eventName: string, records: readonly SentRecord[]): Promise<void>;
  /** Sends these headers to the collector from now on: texts `name=value`, with %-escapes. */
  useHeaders(headers: readonly string[]): void;
  /** Ends a running request. */
  abort(): void;
}

export function openRecordSender(options: Omit<SignalOptions, 'onFailure' | 'onRecovery'>): RecordSender {
  const { settings, egress, version } = options;
  const notices = { onFailure: () => {}, onRecovery: () => {} };
  const exporter = new OtlpExporter(LOGS, settings, egress, notices);
  const resource = describeResource(settings, options);
  const instrumentationScope = { name: 'erp-proxy', version };
  return {
    async send(eventName, records) {
      const logs = records.map(({ at, body, attributes }) => ({
        hrTime: millisToHrTime(at),
        hrTimeObserved: millisToHrTime(at),
        severityNumber: SeverityNumber.INFO,
        severityText: 'INFO',
        eventName,
        body,
        attributes,
        droppedAttributesCount: 0,
        resource,
        instrumentationScope,
      }));
      const outcome = await exporter.deliver(logs);
      if (!outcome.isDelivered) throw new Error(outcome.reason);
    },
    useHeaders: (headers) => exporter.sender.useHeaders(headers),
    abort: () => exporter.sender.abort(),
  };
}
