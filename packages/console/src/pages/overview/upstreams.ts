/** Sorts Odoo databases for a list, and finds their stored instances. Pure. */
import { type InstanceView, isDatabaseOf, type UpstreamView } from '@erp-proxy/contract';

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

export function findInstances(
  { database }: Pick<UpstreamView, 'database'>,
  instances: readonly InstanceView[],
): InstanceView[] {
  return instances.filter((instance) => isDatabaseOf(instance, database));
}
