import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
});
