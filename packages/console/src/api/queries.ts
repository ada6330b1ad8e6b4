/** Reads the admin API through the cache of TanStack Query. The cache is keyed by the request itself. */

import type { Page } from '@erp-proxy/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type Query, send } from './send.ts';

/**
 * Options for `useQuery`. The previous answer stays visible while another page of the list, or other filters, load. All
 * queries below a path are made stale by `invalidateQueries({ queryKey: [path] })`.
 */
export function readAdmin<Answer>(path: string, query: Query = {}) {
  const [, resource = ''] = path.split('/');
  return queryOptions({
    queryKey: [`/${resource}`, path, query],
    queryFn: ({ signal }) => send<Answer>({ method: 'GET', path, query }, signal),
    placeholderData: keepPreviousData,
  });
}

const PAGE_ROWS = 500;
const ROWS_MAX = 10_000;

/** Reads all pages of a list, up to about {@link ROWS_MAX} rows. `isWhole` is false if there are more. */
export function readAllAdmin<Item>(path: string, query: Query) {
  return queryOptions({
    queryKey: [path, 'all', query],
    async queryFn({ signal }): Promise<{ items: Item[]; isWhole: boolean }> {
      const items: Item[] = [];
      let cursor: string | null = null;
      do {
        const read: Page<Item> = await send(
          { method: 'GET', path, query: { ...query, limit: PAGE_ROWS, cursor: cursor ?? undefined } },
          signal,
        );
        items.push(...read.items);
        cursor = read.next;
      } while (cursor !== null && items.length < ROWS_MAX);
      return { items, isWhole: cursor === null };
    },
    placeholderData: keepPreviousData,
  });
}
