/** The sink of the audit, as the settings say. The SDK of OpenTelemetry is loaded only if it is a collector. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type AuditSink,
  type AuditTarget,
  createAuditSink,
  createFileTarget,
  HASH_ATTRIBUTE,
  printHash,
  SEQ_ATTRIBUTE,
} from '@erp-proxy/control/audit';
import type { Logger } from '@erp-proxy/observe/log';
import type { Settings } from '../config/schema.ts';
import type { Services } from './services.ts';

export interface OpenAuditSink extends AuditSink {
  /** Sends these headers to the collector from now on. */
  useHeaders(headers: readonly string[]): void;
}

interface TargetOptions extends Pick<Services, 'egress'> {
  version: string;
}

/** Null: the audit has no sink. */
export async function openAuditSink(
  settings: Pick<Settings, 'audit' | 'otel'>,
  { store, egress }: Pick<Services, 'store' | 'egress'>,
  { version, logger }: { version: string; logger: Logger },
): Promise<OpenAuditSink | null> {
  const target = await openTarget(settings, { egress, version });
  if (target === null) return null;
  const sink = createAuditSink({
    store: store.audit,
    leases: store.leases,
    target,
    owner: randomUUID(),
    onFailure: (reason) => logger.error('audit not sent', { sink: target.name, reason }),
    onRecovery: () => logger.info('audit sent again', { sink: target.name }),
    onSkipped: (records) => logger.error('audit records not sent', { sink: target.name, records }),
  });
  return Object.assign(sink, { useHeaders: target.useHeaders ?? (() => {}) });
}

/** The name by which the store keeps the position of the sink; null: the audit has none. */
export function nameAuditSink({ audit, otel }: Pick<Settings, 'audit' | 'otel'>): string | null {
  if (audit.sink === 'none') return null;
  return audit.sink === 'file' ? createFileTarget(audit.sinkPath ?? '').name : `otlp ${otel.endpoint}`;
}

async function openTarget(
  settings: Pick<Settings, 'audit' | 'otel'>,
  { egress, version }: TargetOptions,
): Promise<(AuditTarget & Partial<Pick<OpenAuditSink, 'useHeaders'>>) | null> {
  const { audit, otel } = settings;
  if (audit.sink === 'none') return null;
  if (audit.sink === 'file') return createFileTarget(audit.sinkPath ?? '');
  const { openRecordSender } = await import('@erp-proxy/observe/otlp');
  const sender = openRecordSender({
    settings: { ...otel, endpoint: otel.endpoint ?? '' },
    egress,
    version,
    process: `${hostname()} ${process.pid}`,
  });
  return {
    name: nameAuditSink(settings) ?? '',
    // A collector cannot be asked what it has.
    findLast: async () => null,
    write: (rows) =>
      sender.send(
        'erp_proxy.audit',
        rows.map(({ seq, at, record, hash }) => ({
          at,
          body: record,
          attributes: { [SEQ_ATTRIBUTE]: seq, [HASH_ATTRIBUTE]: printHash(hash) },
        })),
      ),
    useHeaders: (headers) => sender.useHeaders(headers),
    close: async () => sender.abort(),
  };
}
