import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { readSearch } from './read-form.ts';

export const playgroundRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/playground',
  validateSearch: readSearch,
});
