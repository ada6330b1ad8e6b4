/**
 * Prometheus metrics, from the events. Labels are bounded: what a caller can make up never becomes one without limit.
 * Where several workers serve, their numbers become one: a metric that is not to be summed names its `aggregator`.
 */
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObject,
  Registry,
} from 'prom-client';
import { DatabaseLabels } from './database-labels.ts';
import type { CallRecord, Events } from './events.ts';

/** Maximum number of upstreams that get a label of their own; calls to others count as `other`. */
const UPSTREAMS_MAX = 100;
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface Metrics extends Events {
  readonly contentType: string;
  /** The text of `GET /metrics`. */
  render(): Promise<string>;
  /** The proxy's own metrics, for the documentation; those of Node.js are left out. */
  describe(): MetricDescription[];
}

export interface MetricDescription {
  name: string;
  type: string;
  labels: readonly string[];
  help: string;
}

/** What one process has counted, as structured clone takes it. */
export type MetricsSnapshot = object;

/** Given how to take the snapshot of this process, makes what gathers those of all. */
export type GatherMetrics = (
  takeOwn: () => Promise<MetricsSnapshot>,
) => () => Promise<readonly MetricsSnapshot[]>;

/** What is looked at when the metrics are asked for. */
export interface MetricSources {
  audit: () => { waiting: number; lost: number };
  /** The keys of stored instances at Odoo; `expiresAt` in milliseconds since 1970, null where it is not known. */
  instanceKeys: () => readonly { instance: string; expiresAt: number | null }[];
  isStoreUp: () => boolean;
  /** Since the start. */
  storeStatementsGivenUp: () => number;
  /** Null: there is no Redis. */
  isRedisUp: (() => boolean) | null;
  /** What is known of each upstream database. */
  databases: () => readonly DatabaseMetrics[];
  /** The name by which it is known, without certificates: of the server's base address and the database. */
  nameDatabase: (upstream: string, db: string) => string;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Version of this program. */
  version: string;
}

export interface DatabaseMetrics {
  database: string;
  running: number;
  waiting: number;
  /** Calls at once at present. */
  limit: number;
  breaker: 'closed' | 'open' | 'half_open';
}

/** `classifyMethod` names the action class of a method: read, write or other; `gather` is for one worker of several. */
export function createMetrics(
  classifyMethod: (method: string) => string,
  sources: MetricSources,
  gather?: GatherMetrics,
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  describeBuild(registry, sources.version);
  const calls = new Counter({
    name: 'erp_proxy_calls_total',
    help: 'Calls by action class, outcome (ok or the type of the error) and upstream.',
    labelNames: ['class', 'outcome', 'upstream'] as const,
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'erp_proxy_refused_requests_total',
    help: 'Requests refused before a call could be read, by the type of the error.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const upstreamSeconds = new Histogram({
    name: 'erp_proxy_upstream_duration_seconds',
    help: 'Time from sending a call to Odoo to the head of its answer, by upstream.',
    labelNames: ['class', 'upstream'] as const,
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  const proxySeconds = new Histogram({
    name: 'erp_proxy_proxy_duration_seconds',
    help: 'Time of a call outside Odoo: its whole time less the wait for the head of the answer.',
    labelNames: ['class'] as const,
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  const retries = new Counter({
    name: 'erp_proxy_retries_total',
    help: 'Times that a call was sent to Odoo once more, by what had come of sending it.',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  const sharedReads = new Counter({
    name: 'erp_proxy_shared_reads_total',
    help: 'Reads that needed no call of their own, by what answered them: the same read in flight, or the cache.',
    labelNames: ['source'] as const,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'erp_proxy_requests_in_flight',
    help: 'Requests that are running now.',
    registers: [registry],
  });
  const faults = new Counter({
    name: 'erp_proxy_faults_total',
    help: "Faults of the proxy's own.",
    registers: [registry],
  });
  const gatherAll = gather?.(() => registry.getMetricsAsJSON());
  const upstreams = new Set<string>();
  const databases = new DatabaseLabels(sources.now);
  addSources(registry, sources, databases);
  // One call that worked earns the label, or a stored instance; until then the address is no more than a caller's text.
  const earnsName = ({ outcome, instance }: CallRecord) => outcome === 'ok' || instance !== null;
  const labelUpstream = (record: CallRecord) => {
    const { upstream } = record;
    if (upstream === null) return 'none';
    if (upstreams.has(upstream)) return upstream;
    if (!earnsName(record) || upstreams.size >= UPSTREAMS_MAX) return 'other';
    upstreams.add(upstream);
    return upstream;
  };
  return {
    contentType: registry.contentType,
    render: async () =>
      (gatherAll === undefined ? registry : AggregatorRegistry.aggregate([...(await gatherAll())])).metrics(),
    describe: () =>
      registry
        .getMetricsAsArray()
        .map(describeMetric)
        .filter(({ name }) => name.startsWith('erp_proxy_')),
    requestStarted: () => inFlight.inc(),
    requestEnded: () => inFlight.dec(),
    callRetried: (reason) => retries.inc({ reason }),
    callEnded(record) {
      if (earnsName(record) && record.upstream !== null && record.db !== null)
        databases.earn(sources.nameDatabase(record.upstream, record.db));
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

function addSources(
  registry: Registry,
  { audit, instanceKeys, isStoreUp, storeStatementsGivenUp, isRedisUp, databases, now }: MetricSources,
  labels: DatabaseLabels,
): void {
  const registers = [registry];
  new Gauge({
    name: 'erp_proxy_audit_waiting_records',
    help: 'Records of the audit that are not in the store yet.',
    registers,
    collect() {
      this.set(audit().waiting);
    },
  });
  new Counter({
    name: 'erp_proxy_audit_lost_records_total',
    help: 'Records of the audit that were lost since the start.',
    registers,
    collect() {
      this.reset();
      this.inc(audit().lost);
    },
  });
  new Gauge({
    name: 'erp_proxy_store_up',
    help: '1 while changes of the store arrive and it takes changes, 0 while the proxy works on with what it knows.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(isStoreUp() ? 1 : 0);
    },
  });
  new Counter({
    name: 'erp_proxy_store_statements_given_up_total',
    help: 'Statements that PostgreSQL was told to cancel because they did not end in time.',
    registers,
    collect() {
      this.reset();
      this.inc(storeStatementsGivenUp());
    },
  });
  if (isRedisUp !== null)
    new Gauge({
      name: 'erp_proxy_redis_up',
      help: '1 while Redis answers, 0 while this process keeps its share of the limits.',
      aggregator: 'min',
      registers,
      collect() {
        this.set(isRedisUp() ? 1 : 0);
      },
    });
  new Gauge({
    name: 'erp_proxy_instance_key_expiry_seconds',
    help: 'Seconds until Odoo stops taking the key of a stored instance, where that is known.',
    aggregator: 'min',
    labelNames: ['instance'] as const,
    registers,
    collect() {
      this.reset();
      for (const { instance, expiresAt } of instanceKeys())
        if (expiresAt !== null) this.set({ instance }, Math.round((expiresAt - now()) / 1000));
    },
  });
  for (const [name, help, read] of DATABASE_GAUGES)
    new Gauge({
      name: `erp_proxy_upstream_${name}`,
      help,
      labelNames: ['upstream', 'db'] as const,
      registers,
      collect() {
        this.reset();
        for (const state of databases()) {
          const found = labels.find(state);
          if (found !== null) this.inc({ ...found }, read(state));
        }
      },
    });
}

/** prom-client keeps the labels of a metric, and does not declare them. */
function describeMetric(metric: MetricObject & { labelNames?: readonly string[] }): MetricDescription {
  const { name, type, help, labelNames = [] } = metric;
  return { name, type: String(type), labels: labelNames, help };
}

/** A metric whose value is always 1, as Prometheus exporters tell their version. */
function describeBuild(registry: Registry, version: string): void {
  new Gauge({
    name: 'erp_proxy_build_info',
    help: 'Version of erp-proxy and of Node.js, as labels of the value 1.',
    aggregator: 'min',
    labelNames: ['version', 'node_version'] as const,
    registers: [registry],
  }).set({ version, node_version: process.versions.node }, 1);
}

const DATABASE_GAUGES: readonly [name: string, help: string, read: (state: DatabaseMetrics) => number][] = [
  ['running', 'Calls that run at the database now.', ({ running }) => running],
  ['waiting', 'Calls that wait for the database.', ({ waiting }) => waiting],
  ['limit', 'Calls at once that the database bears, as far as was learnt.', ({ limit }) => limit],
  [
    'breaker_open',
    '1 while the database is left alone because it did not answer.',
    ({ breaker }) => (breaker === 'closed' ? 0 : 1),
  ],
];
