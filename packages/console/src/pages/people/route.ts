import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { optional, readText, type SearchValues } from '../../parts/search-values.ts';

/** Connections to Odoo: the page that is also for who is limited to some of the instances. */
export const connectionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/people',
  validateSearch: (search: SearchValues) =>
    optional({
      instance: readText(search['instance']),
      person: readText(search['person']),
      cursor: readText(search['cursor']),
    }),
});

export const applicationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/people/applications',
  validateSearch: (search: SearchValues) =>
    optional({ person: readText(search['person']), cursor: readText(search['cursor']) }),
});

export const personsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/people/sign-ins',
  validateSearch: (search: SearchValues) => optional({ cursor: readText(search['cursor']) }),
});
