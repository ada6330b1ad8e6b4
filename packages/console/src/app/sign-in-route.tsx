/**
 * `/sign-in`, the address of the link that the proxy prints. The frame shows the form there to a person who has no
 * session. With a session, there is nothing to do: the overview follows, and the code of a link leaves the address bar.
 */
import { createRoute, Navigate } from '@tanstack/react-router';
import { rootRoute } from './root-route.ts';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: () => <Navigate to="/" replace />,
});
