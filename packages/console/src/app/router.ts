/** The pages of the console. A route has the filters of its page; the code of a page loads when it is opened. */
import { createRouter, lazyRouteComponent as lazy } from '@tanstack/react-router';
import { keyRoute, keysRoute, newKeyRoute, subjectsRoute } from '../pages/keys/route.ts';
import { overviewRoute } from '../pages/overview/route.ts';
import { FailedPage } from './failed-page.tsx';
import { LoadingPage } from './loading-page.tsx';
import { MissingPage } from './missing-page.tsx';
import { rootRoute } from './root-route.ts';

export function createConsoleRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([
      overviewRoute.update({
        component: lazy(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
      }),
      keysRoute.update({ component: lazy(() => import('../pages/keys/keys-page.tsx'), 'KeysPage') }),
      subjectsRoute.update({
        component: lazy(() => import('../pages/keys/subjects-page.tsx'), 'SubjectsPage'),
      }),
      newKeyRoute.update({ component: lazy(() => import('../pages/keys/key-new-page.tsx'), 'NewKeyPage') }),
      keyRoute.update({ component: lazy(() => import('../pages/keys/key-page.tsx'), 'KeyPage') }),
    ]),
    defaultPreload: 'intent',
    defaultPendingComponent: LoadingPage,
    defaultNotFoundComponent: MissingPage,
    defaultErrorComponent: FailedPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
