import { JOB_STATES } from '@erp-proxy/contract';
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { optional, readChoice, readText, type SearchValues } from '../../parts/search-values.ts';

export const jobsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs',
  validateSearch: (search: SearchValues) =>
    optional({
      state: readChoice(search['state'], JOB_STATES),
      client: readText(search['client']),
      cursor: readText(search['cursor']),
    }),
});
