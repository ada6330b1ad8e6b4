/**
 * Metrics of ended calls. Their series are found through maps, one for each label, so that a call costs three look-ups.
 * The number of values of each label is bounded, also for texts that callers make up.
 */
import { Counter, type Registry } from 'prom-client';
import type { DatabaseLabels } from './database-labels.ts';
import { DurationHistogram, type DurationSeries } from './duration-histogram.ts';
import type { CallRecord } from './events.ts';

/** Maximum number of upstreams that get a label of their own; calls to others count as `other`. */
const UPSTREAMS_MAX = 100;
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface CallMetricsOptions {
  /** The action class of a method: `read`, `write` or `other`. */
  classifyMethod: (method: string) => string;
  /** The name of a database in its metrics, from the base address of the server and the database's name. */
  nameDatabase: (upstream: string, db: string) => string;
  databaseLabels: DatabaseLabels;
}

interface UpstreamSeries {
  label: string;
  classes: Map<string, ClassSeries>;
  /** The database of the last call that earned a label. */
  earnedDb: string | null;
}

/** The calls of one action class to one upstream. */
interface ClassSeries {
  outcomes: Map<string, CountedCalls>;
  upstreamSeconds: DurationSeries;
}

interface CountedCalls {
  labels: { class: string; outcome: string; upstream: string };
  count: number;
}

/** Returns the handler of ended calls. */
export function registerCallMetrics(
  registry: Registry,
  { classifyMethod, nameDatabase, databaseLabels }: CallMetricsOptions,
): (record: CallRecord) => void {
  const counted: CountedCalls[] = [];
  const upstreams = new Map<string, UpstreamSeries>();
  const none = createUpstream('none');
  const other = createUpstream('other');
  const proxyClasses = new Map<string, DurationSeries>();

  new Counter({
    name: 'erp_proxy_calls_total',
    help: 'Calls by action class, outcome (ok or the type of the error) and upstream.',
    labelNames: ['class', 'outcome', 'upstream'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, count } of counted) this.inc(labels, count);
    },
  });
  const upstreamSeconds = new DurationHistogram({
    registry,
    name: 'erp_proxy_upstream_duration_seconds',
    help: 'Time from sending a call to Odoo to the head of its answer, by upstream.',
    labelNames: ['class', 'upstream'],
    bucketsSeconds: BUCKETS_SECONDS,
  });
  const proxySeconds = new DurationHistogram({
    registry,
    name: 'erp_proxy_proxy_duration_seconds',
    help: "Total time of a call minus the wait for the head of Odoo's answer.",
    labelNames: ['class'],
    bucketsSeconds: BUCKETS_SECONDS,
  });

  // Before one call succeeded, the address of an upstream that is not a stored instance's is only a text of a caller.
  function earnsLabel({ outcome, instance }: CallRecord): boolean {
    return outcome === 'ok' || instance !== null;
  }

  function findUpstream(record: CallRecord): UpstreamSeries {
    const { upstream } = record;
    if (upstream === null) return none;
    const known = upstreams.get(upstream);
    if (known !== undefined) return known;
    if (!earnsLabel(record) || upstreams.size >= UPSTREAMS_MAX) return other;
    const added = createUpstream(upstream);
    upstreams.set(upstream, added);
    return added;
  }

  function earnDatabaseLabel(record: CallRecord, series: UpstreamSeries): void {
    const { upstream, db } = record;
    if (upstream === null || db === null || db === series.earnedDb || !earnsLabel(record)) return;
    databaseLabels.earn(nameDatabase(upstream, db));
    // The other series have the databases of several upstreams.
    if (series.label === upstream) series.earnedDb = db;
  }

  function addClass(series: UpstreamSeries, name: string): ClassSeries {
    const added: ClassSeries = {
      outcomes: new Map(),
      upstreamSeconds: upstreamSeconds.add({ class: name, upstream: series.label }),
    };
    series.classes.set(name, added);
    return added;
  }

  function addOutcome(series: ClassSeries, labels: CountedCalls['labels']): CountedCalls {
    const added = { labels, count: 0 };
    series.outcomes.set(labels.outcome, added);
    counted.push(added);
    return added;
  }

  function addProxyClass(name: string): DurationSeries {
    const added = proxySeconds.add({ class: name });
    proxyClasses.set(name, added);
    return added;
  }

  return (record) => {
    const { method, outcome, totalMs, upstreamMs } = record;
    const upstream = findUpstream(record);
    earnDatabaseLabel(record, upstream);
    const name = method === null ? 'none' : classifyMethod(method);
    const series = upstream.classes.get(name) ?? addClass(upstream, name);
    const calls =
      series.outcomes.get(outcome) ?? addOutcome(series, { class: name, outcome, upstream: upstream.label });
    calls.count++;
    if (upstreamMs !== null) series.upstreamSeconds.observe(upstreamMs / 1000);
    const proxy = proxyClasses.get(name) ?? addProxyClass(name);
    proxy.observe((totalMs - (upstreamMs ?? 0)) / 1000);
  };
}

function createUpstream(label: string): UpstreamSeries {
  return { label, classes: new Map(), earnedDb: null };
}
