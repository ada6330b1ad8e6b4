import { createRoute, type SearchSchemaInput } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { readChoice, readFlag, type SearchValues } from '../../parts/search-values.ts';
import { RANGE_NAMES } from './ranges.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: (search: SearchValues & SearchSchemaInput) => ({
    /** Default: the last hour. */
    range: readChoice(search['range'], RANGE_NAMES),
    /** True to stop reading again by itself. */
    paused: readFlag(search['paused']),
  }),
});
