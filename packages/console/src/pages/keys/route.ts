import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { optional, readChoice, readText, type SearchValues } from '../../parts/search-values.ts';

export const KEY_STATES = ['active', 'expired', 'revoked'] as const;
const KEY_TABS = ['overview', 'policy'] as const;
export type KeyTab = (typeof KEY_TABS)[number];

export const keysRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys',
  validateSearch: (search: SearchValues) =>
    optional({
      search: readText(search['search']),
      state: readChoice(search['state'], KEY_STATES),
      cursor: readText(search['cursor']),
    }),
});

export const subjectsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys/denied-subjects',
  validateSearch: (search: SearchValues) => optional({ cursor: readText(search['cursor']) }),
});

export const newKeyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys/new',
});

export const keyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys/$id',
  validateSearch: (search: SearchValues) => optional({ tab: readChoice(search['tab'], KEY_TABS) }),
});
