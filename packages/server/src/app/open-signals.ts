/**
 * Traces, logs and metrics for a collector, as the settings `otel` say. The SDK of OpenTelemetry is loaded only if one
 * of them is on.
 */
import { hostname } from 'node:os';
import type { EgressDispatcher } from '@erp-proxy/egress';
import type { OpenTracing } from '@erp-proxy/gateway/traces';
import { copyLines, type Logger } from '@erp-proxy/observe/log';
import type { Metrics } from '@erp-proxy/observe/metrics';
import type { OpenSignal } from '@erp-proxy/observe/otlp';
import type { Settings } from '../config/schema.ts';

interface SignalsOptions {
  egress: EgressDispatcher;
  version: string;
  clock: () => number;
  nowMs: () => number;
  /** Logs failures of exports. */
  logger: Logger;
}

export interface Signals {
  /** Null if traces are off. */
  readonly tracing: OpenTracing | null;
  /** The logger itself if `otel.logs` is off. */
  copyLines(logger: Logger, level: string): Logger;
  /** Does nothing if `otel.metrics` is off. */
  sendMetrics(takeSnapshot: Metrics['takeSnapshot']): void;
  /** Sends these headers to the collector from now on. */
  useHeaders(headers: readonly string[]): void;
  /** Exports what waits, for at most `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

export async function openSignals(
  { enabled, endpoint, traces, logs, metrics, ...settings }: Settings['otel'],
  { egress, logger, ...others }: SignalsOptions,
): Promise<Signals> {
  const isOn = enabled && endpoint !== null;
  const open: OpenSignal[] = [];
  const keep = <Kind extends OpenSignal>(signal: Kind): Kind => {
    open.push(signal);
    return signal;
  };
  const optionsFor = (what: string) => ({
    ...others,
    egress,
    settings: { ...settings, endpoint: endpoint ?? '' },
    process: `${hostname()} ${process.pid}`,
    onFailure: (reason: string) => logger.warn(`${what} not exported`, { reason }),
    onRecovery: (lost: number) => logger.info(`${what} exported again`, { lost }),
  });
  const otlp = isOn && (logs || metrics) ? await import('@erp-proxy/observe/otlp') : null;
  const copy = otlp && logs ? keep(otlp.openLogs(optionsFor('logs'))).copy : null;
  const tracing =
    isOn && traces
      ? keep((await import('@erp-proxy/gateway/traces')).openTracing(optionsFor('traces')))
      : null;
  return {
    tracing,
    copyLines: (given, level) => (copy === null ? given : copyLines(given, level, copy)),
    sendMetrics(takeSnapshot) {
      if (otlp && metrics) keep(otlp.openMetricsExport({ ...optionsFor('metrics'), takeSnapshot }));
    },
    useHeaders(headers) {
      for (const signal of open) signal.useHeaders(headers);
    },
    async close(timeoutMs) {
      await Promise.all(open.map((signal) => signal.close(timeoutMs)));
    },
  };
}
