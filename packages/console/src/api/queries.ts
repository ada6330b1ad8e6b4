/** Reading the admin API through the cache of TanStack Query. A key of the cache is the request itself. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type Query, send } from './send.ts';

/**
 * Options for `useQuery`. What was read stays visible while another page of it or other filters load. All queries below
 * a path are made stale by `invalidateQueries({ queryKey: [path] })`.
 */
export function readAdmin<Answer>(path: string, query: Query = {}) {
  const [, resource = ''] = path.split('/');
  return queryOptions({
    queryKey: [`/${resource}`, path, query],
    queryFn: ({ signal }) => send<Answer>({ method: 'GET', path, query }, signal),
    placeholderData: keepPreviousData,
  });
}
