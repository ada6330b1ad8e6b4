/**
 * `/sign-in`, the address in the link that the proxy prints. If there is no session, the frame shows the sign-in form.
 * With a session, the page goes to the overview, which removes the code of the link from the address bar.
 */
import { createRoute, Navigate } from '@tanstack/react-router';
import { rootRoute } from './root-route.ts';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: () => <Navigate to="/" replace />,
});
