/**
 * Metrics that count events and measure their durations. The number of values of each label is bounded, also for texts
 * that callers make up.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { DatabaseLabels } from './database-labels.ts';
import type { CallRecord, EventHandlers } from './events.ts';

/** Maximum number of upstreams that get a label of their own; calls to others count as `other`. */
const UPSTREAMS_MAX = 100;
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface EventMetricsOptions {
  /** The action class of a method: `read`, `write` or `other`. */
  classifyMethod: (method: string) => string;
  /** The name of a database in its metrics, from the base address of the server and the database's name. */
  nameDatabase: (upstream: string, db: string) => string;
  databaseLabels: DatabaseLabels;
}

export function registerEventMetrics(
  registry: Registry,
  { classifyMethod, nameDatabase, databaseLabels }: EventMetricsOptions,
): EventHandlers {
  const registers = [registry];
  const calls = new Counter({
    name: 'erp_proxy_calls_total',
    help: 'Calls by action class, outcome (ok or the type of the error) and upstream.',
    labelNames: ['class', 'outcome', 'upstream'] as const,
    registers,
  });
  const refusals = new Counter({
    name: 'erp_proxy_refused_requests_total',
    help: 'Requests refused before their body was parsed into calls, by type of the error.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const upstreamSeconds = new Histogram({
    name: 'erp_proxy_upstream_duration_seconds',
    help: 'Time from sending a call to Odoo to the head of its answer, by upstream.',
    labelNames: ['class', 'upstream'] as const,
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const proxySeconds = new Histogram({
    name: 'erp_proxy_proxy_duration_seconds',
    help: "Total time of a call minus the wait for the head of Odoo's answer.",
    labelNames: ['class'] as const,
    buckets: SECONDS_BUCKETS,
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
  const inFlight = new Gauge({
    name: 'erp_proxy_requests_in_flight',
    help: 'Requests that are running now.',
    registers,
  });
  const faults = new Counter({
    name: 'erp_proxy_faults_total',
    help: 'Internal errors of the proxy.',
    registers,
  });

  const upstreams = new Set<string>();
  // Before one call succeeded, the address of an upstream that is not a stored instance's is only a text of a caller.
  const earnsLabel = ({ outcome, instance }: CallRecord) => outcome === 'ok' || instance !== null;
  const labelUpstream = (record: CallRecord) => {
    const { upstream } = record;
    if (upstream === null) return 'none';
    if (upstreams.has(upstream)) return upstream;
    if (!earnsLabel(record) || upstreams.size >= UPSTREAMS_MAX) return 'other';
    upstreams.add(upstream);
    return upstream;
  };

  return {
    requestStarted: () => inFlight.inc(),
    requestEnded: () => inFlight.dec(),
    callRetried: (reason) => retries.inc({ reason }),
    callEnded(record) {
      if (earnsLabel(record) && record.upstream !== null && record.db !== null)
        databaseLabels.earn(nameDatabase(record.upstream, record.db));
      const labels = { class: record.method === null ? 'none' : classifyMethod(record.method) };
      const upstream = labelUpstream(record);
      calls.inc({ ...labels, outcome: record.outcome, upstream });
      if (record.upstreamMs !== null)
        upstreamSeconds.observe({ ...labels, upstream }, record.upstreamMs / 1000);
      proxySeconds.observe(labels, (record.totalMs - (record.upstreamMs ?? 0)) / 1000);
      if (record.sharedFrom !== null) sharedReads.inc({ source: record.sharedFrom });
    },
    requestRefused: (record) => refusals.inc({ outcome: record.outcome }),
    requestsShed: (count) => refusals.inc({ outcome: 'overloaded' }, count),
    faultSeen: () => faults.inc(),
  };
}
