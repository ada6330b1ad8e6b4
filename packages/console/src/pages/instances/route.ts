import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { optional, readChoice, readText, type SearchValues } from '../../parts/search-values.ts';

const INSTANCE_TABS = ['overview', 'settings'] as const;
export type InstanceTab = (typeof INSTANCE_TABS)[number];

export const instancesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/instances',
  validateSearch: (search: SearchValues) =>
    optional({ search: readText(search['search']), cursor: readText(search['cursor']) }),
});

export const newInstanceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/instances/new',
});

export const instanceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/instances/$name',
  validateSearch: (search: SearchValues) => optional({ tab: readChoice(search['tab'], INSTANCE_TABS) }),
});
