/** Metrics of ended calls. The number of values of each label is bounded, also for texts that callers make up. */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { DatabaseLabels } from './database-labels.ts';
import type { CallRecord } from './events.ts';

/** Maximum number of upstreams that get their own label; calls to others count as `other`. */
const UPSTREAMS_MAX = 100;
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface CallMetricsOptions {
  /** The action class of a method: `read`, `write` or `other`. */
  classifyMethod: (method: string) => string;
  /** Names a database in the metrics by the base address of its server and its name. */
  nameDatabase: (upstream: string, db: string) => string;
  databaseLabels: DatabaseLabels;
}

/** Returns the handler of ended calls. */
export function registerCallMetrics(
  registry: Registry,
  { classifyMethod, nameDatabase, databaseLabels }: CallMetricsOptions,
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
