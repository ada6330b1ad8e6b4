/**
 * The state of each stored instance, joined from what the admin API tells of instances, of databases and of calls. For
 * the command line and the console. Pure.
 */
import type { InstanceView, StatisticsView, UpstreamView } from './admin/schemas.ts';

export interface FleetRow {
  name: string;
  tags: readonly string[];
  url: string;
  db: string;
  /** Version of the server, as in `18.0`; null: not known. */
  version: string | null;
  /** `unknown`: the proxy has had no answer of it lately. */
  state: 'reachable' | 'unreachable' | 'unknown';
  /** State of the circuit breaker; null: the proxy has not called the database since it started. */
  breaker: UpstreamView['breaker'] | null;
  key: InstanceView['key'];
  /** Calls in the time of the statistics, those that ended with an error, and the time that Odoo took for most. */
  calls: number;
  errors: number;
  p95_ms: number | null;
  /** When an operator changed the instance. */
  changed_at: string;
}

/** Instances keep their order. */
export function joinFleetRows(
  instances: readonly InstanceView[],
  upstreams: readonly UpstreamView[],
  groups: StatisticsView['groups'],
): FleetRow[] {
  const byDatabase = new Map(upstreams.map((upstream) => [nameDatabase(upstream.database), upstream]));
  const byName = new Map(groups.map((group) => [group.name, group]));
  return instances.map((instance) => {
    const upstream = byDatabase.get(nameDatabaseOf(instance)) ?? null;
    const group = byName.get(instance.name);
    const { name, tags, url, db, key, updated_at: changed_at } = instance;
    return {
      name,
      tags,
      url,
      db,
      version: upstream?.version ?? null,
      state: describeState(upstream, group),
      breaker: upstream?.breaker ?? null,
      key,
      calls: group?.calls ?? 0,
      errors: Object.values(group?.errors ?? {}).reduce((sum, count) => sum + count, 0),
      p95_ms: group?.odoo_ms?.p95 ?? null,
      changed_at,
    };
  });
}

function describeState(
  upstream: UpstreamView | null,
  group: StatisticsView['groups'][number] | undefined,
): FleetRow['state'] {
  if (upstream !== null && upstream.breaker !== 'closed') return 'unreachable';
  const hasAnswered = upstream?.version != null || upstream?.answer_ms != null || group?.odoo_ms != null;
  return hasAnswered ? 'reachable' : 'unknown';
}

/**
 * Splits the name of a database: the server, optionally a part that identifies trusted certificates, and the name in
 * Odoo.
 */
export function splitDatabase(database: string): { server: string; db: string } {
  const [, server = database, db = ''] = /^(\S+) (?:.* )?(\S+)$/.exec(database) ?? [];
  return { server, db };
}

/** True if the name of a database in the state of the proxy is that of the instance. */
export function isDatabaseOf(instance: Pick<InstanceView, 'url' | 'db'>, database: string): boolean {
  return nameDatabaseOf(instance) === nameDatabase(database);
}

function nameDatabase(database: string): string {
  const { server, db } = splitDatabase(database);
  return `${server} ${db}`;
}

function nameDatabaseOf({ url, db }: Pick<InstanceView, 'url' | 'db'>): string {
  return `${url.replace(/\/+$/, '').replace('://localhost', '://127.0.0.1')} ${db}`;
}
