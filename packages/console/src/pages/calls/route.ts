import { createRoute, type SearchSchemaInput } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { readFlag, readNumber, readText, type SearchValues } from '../../parts/search-values.ts';
import { readAuditSearch } from './audit-filters.ts';

export const callsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/calls',
  validateSearch: (search: SearchValues & SearchSchemaInput) => ({
    ...readAuditSearch(search),
    cursor: readText(search['cursor']),
    /** True to follow the newest records. */
    live: readFlag(search['live']),
    /** The number of the record that is shown beside the list. */
    record: readNumber(search['record']),
  }),
});

/** Shows one record by its number, or the records of a request by its id. */
export const callRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/calls/$id',
});
