import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { readChoice, readText, type SearchValues } from '../../parts/search-values.ts';

export const KEY_STATES = ['active', 'expired', 'revoked'] as const;

export const keysRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys',
  validateSearch: (search: SearchValues) => ({
    search: readText(search['search']),
    state: readChoice(search['state'], KEY_STATES),
    cursor: readText(search['cursor']),
  }),
});

export const keyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys/$id',
});
