/** Metrics whose values are read from parts of the proxy at each scrape. One table registers and documents them. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { DatabaseLabels, DatabaseMetrics } from './database-labels.ts';

/** The sources of the values of the metrics. */
export interface MetricSources {
  audit: () => { waiting: number; lost: number };
  /** The time of the oldest record that the sink of the audit lacks, in milliseconds since 1970; null if it has all. */
  auditSinkOldestAt: () => number | null;
  /** Numbers of events of approvals since the start of the process. */
  approvals: () => Readonly<Record<'asked' | 'approved' | 'refused' | 'used' | 'returned', number>>;
  /** The keys for Odoo of stored instances. `expiresAt`: in milliseconds since 1970, null if it is not known. */
  instanceKeys: () => readonly { instance: string; expiresAt: number | null }[];
  /** The configured issuers of tokens. `failure` is null if their keys could be read the last time. */
  issuers: () => readonly { issuer: string; failure: string | null }[];
  /** Client keys that expire soon, the earliest first. `expiresAt`: in milliseconds since 1970. */
  endingKeys: () => readonly { keyId: string; clientId: string; expiresAt: number }[];
  /** The subscriptions in the shards that this process holds. `oldestAt`: in milliseconds since 1970. */
  subscriptions: () => readonly SubscriptionMetrics[];
  /** Number of running requests, by route. */
  dataRequests: () => Readonly<Record<'export' | 'changes' | 'documents' | 'fleet', number>>;
  /** Number of running calls of requests for many instances. */
  fleetCalls: () => number;
  /** Number of jobs that this process runs. */
  jobs: () => number;
  /** Number of running readings, and of batches of deliveries that are being sent. */
  subscriptionWork: () => { reading: number; sending: number };
  isStoreUp: () => boolean;
  /** Number of cancelled statements since the start of the process. */
  storeStatementsGivenUp: () => number;
  /** Whether Redis is available; null without Redis. */
  isRedisUp: (() => boolean) | null;
  /** The upstream databases that this process knows. */
  databases: () => readonly DatabaseMetrics[];
  /** Milliseconds since 1970. */
  now: () => number;
  /** Version of this program. */
  version: string;
}

export interface SubscriptionMetrics {
  name: string;
  state: 'active' | 'paused' | 'disabled';
  failures: number;
  problem: string | null;
  waiting: number;
  oldestAt: number | null;
}

interface Sample {
  labels?: Record<string, string>;
  value: number;
}

interface SourceMetric {
  name: string;
  help: string;
  type: 'gauge' | 'counter';
  labelNames?: readonly string[];
  /** How the values of several workers are combined; left out: by their sum. */
  aggregator?: 'min';
  /** Whether the metric exists with these sources. */
  isPresent?(sources: MetricSources): boolean;
  /** Reads the samples. Samples with equal labels are added up. */
  read(sources: MetricSources, labels: DatabaseLabels): Iterable<Sample>;
}

const ENDING_KEYS_MAX = 100;
const SUBSCRIPTIONS_MAX = 100;

export const SOURCE_METRICS: readonly SourceMetric[] = [
  {
    // The value is 1, as Prometheus exporters publish their version.
    name: 'erp_proxy_build_info',
    help: 'Always 1. The labels have the versions of erp-proxy and Node.js.',
    type: 'gauge',
    aggregator: 'min',
    labelNames: ['version', 'node_version'],
    read: ({ version }) => [{ labels: { version, node_version: process.versions.node }, value: 1 }],
  },
  {
    name: 'erp_proxy_audit_waiting_records',
    help: 'Audit records that are not in the store yet.',
    type: 'gauge',
    read: ({ audit }) => [{ value: audit().waiting }],
  },
  {
    name: 'erp_proxy_audit_lost_records_total',
    help: 'Audit records that were lost since the start.',
    type: 'counter',
    read: ({ audit }) => [{ value: audit().lost }],
  },
  {
    name: 'erp_proxy_audit_sink_lag_seconds',
    help: 'Age of the oldest audit record that the sink has not taken; 0 without a sink, and in processes that do not send to it.',
    type: 'gauge',
    read: ({ auditSinkOldestAt, now }) => {
      const oldestAt = auditSinkOldestAt();
      return [{ value: oldestAt === null ? 0 : Math.max(0, Math.round((now() - oldestAt) / 1000)) }];
    },
  },
  {
    name: 'erp_proxy_jobs_running',
    help: 'Jobs that run.',
    type: 'gauge',
    read: ({ jobs }) => [{ value: jobs() }],
  },
  {
    name: 'erp_proxy_approvals_total',
    help: 'Calls that need an approval, by event: asked, approved, refused, used, or returned because the call was not run.',
    type: 'counter',
    labelNames: ['event'],
    read: ({ approvals }) =>
      Object.entries(approvals()).map(([event, value]) => ({ labels: { event }, value })),
  },
  {
    name: 'erp_proxy_store_up',
    help: '1 while the store accepts changes and reports those of other processes, otherwise 0.',
    type: 'gauge',
    aggregator: 'min',
    read: ({ isStoreUp }) => [{ value: isStoreUp() ? 1 : 0 }],
  },
  {
    name: 'erp_proxy_store_statements_given_up_total',
    help: 'Statements that were cancelled because PostgreSQL did not finish them in time.',
    type: 'counter',
    read: ({ storeStatementsGivenUp }) => [{ value: storeStatementsGivenUp() }],
  },
  {
    name: 'erp_proxy_redis_up',
    help: '1 while Redis answers; 0 while this process enforces its share of the limits by itself.',
    type: 'gauge',
    aggregator: 'min',
    isPresent: ({ isRedisUp }) => isRedisUp !== null,
    read: ({ isRedisUp }) => [{ value: isRedisUp?.() ? 1 : 0 }],
  },
  {
    name: 'erp_proxy_instance_key_expiry_seconds',
    help: 'Seconds until the Odoo key of a stored instance expires, if that is known.',
    type: 'gauge',
    aggregator: 'min',
    labelNames: ['instance'],
    *read({ instanceKeys, now }) {
      for (const { instance, expiresAt } of instanceKeys())
        if (expiresAt !== null) yield { labels: { instance }, value: Math.round((expiresAt - now()) / 1000) };
    },
  },
  {
    name: 'erp_proxy_issuer_up',
    help: '1 while the keys of the issuer of tokens could be read the last time, otherwise 0.',
    type: 'gauge',
    aggregator: 'min',
    labelNames: ['issuer'],
    read: ({ issuers }) =>
      issuers().map(({ issuer, failure }) => ({ labels: { issuer }, value: failure === null ? 1 : 0 })),
  },
  {
    name: 'erp_proxy_key_expires_seconds',
    help: 'Seconds until a client key expires, from `keys.expiryNoticeDays` before to a day after. For the 100 keys that expire first.',
    type: 'gauge',
    aggregator: 'min',
    labelNames: ['key_id', 'client_id'],
    *read({ endingKeys, now }) {
      for (const { keyId, clientId, expiresAt } of endingKeys().slice(0, ENDING_KEYS_MAX))
        yield {
          labels: { key_id: keyId, client_id: clientId },
          value: Math.round((expiresAt - now()) / 1000),
        };
    },
  },
  {
    name: 'erp_proxy_subscriptions',
    help: 'Subscriptions by state: active, paused or disabled. Those that this process works, as in the next lines.',
    type: 'gauge',
    labelNames: ['state'],
    read: ({ subscriptions }) => subscriptions().map(({ state }) => ({ labels: { state }, value: 1 })),
  },
  {
    name: 'erp_proxy_subscriptions_failing',
    help: 'Active subscriptions by what fails: `receiver` does not take deliveries, or `source` cannot be read.',
    type: 'gauge',
    labelNames: ['what'],
    *read({ subscriptions }) {
      for (const { state, failures, problem } of subscriptions()) {
        if (state !== 'active') continue;
        if (failures > 0) yield { labels: { what: 'receiver' }, value: 1 };
        if (problem !== null) yield { labels: { what: 'source' }, value: 1 };
      }
    },
  },
  {
    name: 'erp_proxy_deliveries_waiting',
    help: 'Deliveries of subscriptions that wait to be sent.',
    type: 'gauge',
    read: ({ subscriptions }) => [{ value: subscriptions().reduce((sum, { waiting }) => sum + waiting, 0) }],
  },
  {
    name: 'erp_proxy_subscription_lag_seconds',
    help: 'Age of the oldest delivery of a subscription that waits to be sent. For the 100 oldest.',
    type: 'gauge',
    labelNames: ['subscription'],
    *read({ subscriptions, now }) {
      for (const { name, oldestAt } of subscriptions().slice(0, SUBSCRIPTIONS_MAX))
        if (oldestAt !== null)
          yield { labels: { subscription: name }, value: Math.max(0, Math.round((now() - oldestAt) / 1000)) };
    },
  },
  {
    name: 'erp_proxy_subscription_work',
    help: 'Work for subscriptions that runs now: `reading` of changes, `sending` of deliveries.',
    type: 'gauge',
    labelNames: ['what'],
    read: ({ subscriptionWork }) =>
      Object.entries(subscriptionWork()).map(([what, value]) => ({ labels: { what }, value })),
  },
  {
    name: 'erp_proxy_data_requests',
    help: 'Exports, and requests for changes, for documents and for many instances, that run now.',
    type: 'gauge',
    labelNames: ['route'],
    read: ({ dataRequests }) =>
      Object.entries(dataRequests()).map(([route, value]) => ({ labels: { route }, value })),
  },
  {
    name: 'erp_proxy_fleet_calls_running',
    help: 'Calls of requests for many instances that run now.',
    type: 'gauge',
    labelNames: [],
    read: ({ fleetCalls }) => [{ labels: {}, value: fleetCalls() }],
  },
  databaseGauge('running', 'Calls that run on the database now.', ({ running }) => running),
  databaseGauge('waiting', 'Interactive calls that wait for the database.', ({ waiting }) => waiting),
  databaseGauge(
    'background_running',
    'Background calls, such as pages of exports, that run on the database now. They count as running calls, too.',
    ({ backgroundRunning }) => backgroundRunning,
  ),
  databaseGauge(
    'background_waiting',
    'Background calls that wait for the database, while interactive calls go first.',
    ({ backgroundWaiting }) => backgroundWaiting,
  ),
  databaseGauge('limit', 'Current concurrency limit of the database.', ({ limit }) => limit),
  databaseGauge(
    'breaker_open',
    '1 while the circuit breaker of the database is open or half-open.',
    ({ breaker }) => (breaker === 'closed' ? 0 : 1),
  ),
];

function databaseGauge(
  suffix: string,
  help: string,
  readValue: (state: DatabaseMetrics) => number,
): SourceMetric {
  return {
    name: `erp_proxy_upstream_${suffix}`,
    help,
    type: 'gauge',
    labelNames: ['upstream', 'db'],
    *read({ databases }, labels) {
      for (const state of databases()) {
        const label = labels.find(state);
        if (label !== null) yield { labels: { ...label }, value: readValue(state) };
      }
    },
  };
}

export function registerSourceMetrics(
  registry: Registry,
  sources: MetricSources,
  labels: DatabaseLabels,
): void {
  for (const metric of SOURCE_METRICS) {
    const { type, read, isPresent, labelNames = [], ...options } = metric;
    if (isPresent?.(sources) === false) continue;
    const Metric = type === 'gauge' ? Gauge : Counter;
    new Metric({
      ...options,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const sample of read(sources, labels)) this.inc(sample.labels ?? {}, sample.value);
      },
    });
  }
}
