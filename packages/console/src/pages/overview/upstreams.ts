/** Sorts Odoo databases for a list, and finds their stored instances. Pure. */
import type { InstanceView, UpstreamView } from '@erp-proxy/contract';

/** Databases with an open circuit breaker come first, then the busiest. */
export function sortUpstreams(upstreams: readonly UpstreamView[]): UpstreamView[] {
  const trouble = { open: 0, half_open: 1, closed: 2 } as const;
  return upstreams.toSorted(
    (one, other) =>
      trouble[one.breaker] - trouble[other.breaker] ||
      other.waiting - one.waiting ||
      other.running - one.running ||
      (one.database < other.database ? -1 : 1),
  );
}

/**
 * Splits the name of a database: the server, optionally a part that identifies trusted certificates, and the name in
 * Odoo.
 */
export function splitDatabase(database: string): { server: string; db: string } {
  const [, server = database, db = ''] = /^(\S+) (?:.* )?(\S+)$/.exec(database) ?? [];
  return { server, db };
}

export function findInstances(
  { database }: Pick<UpstreamView, 'database'>,
  instances: readonly InstanceView[],
): InstanceView[] {
  const { server, db } = splitDatabase(database);
  return instances.filter((instance) => {
    const url = instance.url.replace(/\/+$/, '').replace('://localhost', '://127.0.0.1');
    return url === server && instance.db === db;
  });
}
