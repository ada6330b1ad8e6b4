/** Chooses, sorts and counts the rows of the fleet. Pure. */
import type { FleetRow } from '@erp-proxy/contract';

interface Filters {
  search: string | undefined;
  tag: string | undefined;
}

const ORDER: Record<FleetRow['state'], number> = { unreachable: 0, reachable: 1, unknown: 2 };

/** Rows in trouble come first: unreachable ones, then those with the most errors. */
export function chooseRows(rows: readonly FleetRow[], { search = '', tag }: Filters): FleetRow[] {
  const wanted = search.toLowerCase();
  return rows
    .filter(({ name, url, tags }) => {
      if (tag !== undefined && !tags.includes(tag)) return false;
      return [name, url, ...tags].some((text) => text.toLowerCase().includes(wanted));
    })
    .toSorted(
      (one, other) =>
        ORDER[one.state] - ORDER[other.state] ||
        other.errors - one.errors ||
        (one.name < other.name ? -1 : 1),
    );
}

export function listTags(rows: readonly FleetRow[]): string[] {
  return [...new Set(rows.flatMap(({ tags }) => tags))].sort();
}

export function countRows(rows: readonly FleetRow[]) {
  return {
    unreachable: rows.filter(({ state }) => state === 'unreachable').length,
    failing: rows.filter(({ errors }) => errors > 0).length,
    endingKeys: rows.filter(({ key }) => key.state === 'expiring' || key.state === 'expired').length,
  };
}
