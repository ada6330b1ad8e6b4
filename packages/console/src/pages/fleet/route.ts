import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { optional, readText, type SearchValues } from '../../parts/search-values.ts';

export const fleetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/fleet',
  validateSearch: (search: SearchValues) =>
    optional({ search: readText(search['search']), tag: readText(search['tag']) }),
});
