/** Metrics that count events and measure their durations. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { DatabaseLabels } from './database-labels.ts';
import type { CallRecord, EventHandlers } from './events.ts';

export function registerEventMetrics(registry: Registry, options: EventMetricsOptions): EventHandlers {
  const registers = [registry];
  const countCall = registerCallMetrics(registry, options);
  const refusals = new Counter({
    name: 'erp_proxy_refused_requests_total',
    help: 'Requests refused before their body was parsed into calls, by type of the error.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const retries = new Counter({
    name: 'erp_proxy_retries_total',
    help: 'Repeated attempts to send a call to Odoo, by reason: connection, gateway or conflict.',
    labelNames: ['reason'] as const,
    registers,
  });
  const sharedReads = new Counter({
    name: 'erp_proxy_shared_reads_total',
    help: 'Reads that were not sent to Odoo, by source of their answer: an equal read in flight, or the cache.',
    labelNames: ['source'] as const,
    registers,
  });
  const deliveries = new Counter({
    name: 'erp_proxy_deliveries_total',
    help: 'Attempts to send a delivery of a subscription, by outcome: delivered, retried later, or failed (given up).',
    labelNames: ['outcome'] as const,
    registers,
  });
  const deliverySeconds = new Histogram({
    name: 'erp_proxy_delivery_duration_seconds',
    help: 'Duration of attempts to send a delivery of a subscription.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  });
  const exports = new Counter({
    name: 'erp_proxy_exports_total',
    help: 'Exports whose answer had begun, by outcome: complete or broken_off.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const exportedRecords = new Counter({
    name: 'erp_proxy_exported_records_total',
    help: 'Records that exports have sent.',
    registers,
  });
  const exportedBytes = new Counter({
    name: 'erp_proxy_exported_bytes_total',
    help: 'Bytes that exports have sent, before compression.',
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: 'erp_proxy_requests_in_flight',
    help: 'Requests that are running now.',
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  const faults = new Counter({
    name: 'erp_proxy_faults_total',
    help: 'Internal errors of the proxy.',
    registers,
  });

  const jobs = new Counter({
    name: 'erp_proxy_jobs_total',
    help: 'Jobs that have ended, by route and state.',
    labelNames: ['route', 'state'] as const,
    registers,
  });

  const connectionsRefused = new Counter({
    name: 'erp_proxy_connections_refused_total',
    help: 'Client connections that were closed unread, because too many were open for the limit of file descriptors.',
    registers,
  });

  return {
    requestStarted() {
      inFlight++;
    },
    requestEnded() {
      inFlight--;
    },
    callRetried: (reason) => retries.inc({ reason }),
    callEnded(record) {
      countCall(record);
      if (record.sharedFrom !== null) sharedReads.inc({ source: record.sharedFrom });
    },
    requestRefused: (record) => refusals.inc({ outcome: record.outcome }),
    deliveryEnded({ outcome, durationMs }) {
      deliveries.inc({ outcome });
      deliverySeconds.observe(durationMs / 1000);
    },
    requestsShed: (count) => refusals.inc({ outcome: 'overloaded' }, count),
    connectionsRefused: (count) => connectionsRefused.inc(count),
    exportEnded({ problem, records, bytes }) {
      exports.inc({ outcome: problem === null ? 'complete' : 'broken_off' });
      exportedRecords.inc(records);
      exportedBytes.inc(bytes);
    },
    jobEnded: ({ route, state }) => jobs.inc({ route, state }),
    faultSeen: () => faults.inc(),
  };
}

/** Maximum number of upstreams that get their own label; calls to others count as `other`. */
const UPSTREAMS_MAX = 100;
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface EventMetricsOptions {
  /** The action class of a method: `read`, `write` or `other`. */
  classifyMethod: (method: string) => string;
  /** Names a database in the metrics by the base address of its server and its name. */
  nameDatabase: (upstream: string, db: string) => string;
  databaseLabels: DatabaseLabels;
}

/**
 * Metrics of ended calls, whose handler it returns. The number of values of each label is bounded, also for texts that
 * callers make up.
 */
function registerCallMetrics(
  registry: Registry,
  { classifyMethod, nameDatabase, databaseLabels }: EventMetricsOptions,
): (record: CallRecord) => void {
  const registers = [registry];
  const upstreams = new Set<string>();

  const calls = new Counter({
    name: 'erp_proxy_calls_total',
    help: 'Calls by action class, outcome (ok or the type of the error) and upstream.',
    labelNames: ['class', 'outcome', 'upstream'] as const,
    registers,
  });
  const upstreamSeconds = new Histogram({
    name: 'erp_proxy_upstream_duration_seconds',
    help: 'Time from sending a call to Odoo to the head of its answer, by upstream.',
    labelNames: ['class', 'upstream'] as const,
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const proxySeconds = new Histogram({
    name: 'erp_proxy_proxy_duration_seconds',
    help: "Total time of a call minus the wait for the head of Odoo's answer.",
    labelNames: ['class'] as const,
    buckets: BUCKETS_SECONDS,
    registers,
  });

  function labelUpstream(upstream: string | null, earnsLabel: boolean): string {
    if (upstream === null) return 'none';
    if (upstreams.has(upstream)) return upstream;
    if (!earnsLabel || upstreams.size >= UPSTREAMS_MAX) return 'other';
    upstreams.add(upstream);
    return upstream;
  }

  return ({ method, outcome, instance, upstream: address, db, totalMs, upstreamMs }) => {
    // Before the first successful call, an upstream that is not of a stored instance is only a text that a caller made
    // up.
    const earnsLabel = outcome === 'ok' || instance !== null;
    if (earnsLabel && address !== null && db !== null) databaseLabels.earn(nameDatabase(address, db));
    const name = method === null ? 'none' : classifyMethod(method);
    const upstream = labelUpstream(address, earnsLabel);
    calls.inc({ class: name, outcome, upstream });
    if (upstreamMs !== null) upstreamSeconds.observe({ class: name, upstream }, upstreamMs / 1000);
    proxySeconds.observe({ class: name }, (totalMs - (upstreamMs ?? 0)) / 1000);
  };
}
