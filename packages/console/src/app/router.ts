/** The pages of the console. A route has the filters of its page; the code of a page loads when it is opened. */
import { createRouter, lazyRouteComponent as lazy } from '@tanstack/react-router';
import { keyRoute, keysRoute } from '../pages/keys/route.ts';
import { overviewRoute } from '../pages/overview/route.ts';
import { playgroundRoute } from '../pages/playground/route.ts';
import { startRoute } from '../pages/start/route.ts';
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
      startRoute.update({ component: lazy(() => import('../pages/start/start-page.tsx'), 'StartPage') }),
      playgroundRoute.update({
        component: lazy(() => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'),
      }),
      keysRoute.update({ component: lazy(() => import('../pages/keys/keys-page.tsx'), 'KeysPage') }),
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
