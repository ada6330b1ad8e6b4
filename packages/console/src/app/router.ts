/**
 * The pages of the console. Each route defines the filters of its page. The code of a page loads when the page is
 * opened.
 */
import { createRouter, lazyRouteComponent as lazy } from '@tanstack/react-router';
import { ROOT } from '../api/root.ts';
import { approvalRoute, approvalsRoute } from '../pages/approvals/route.ts';
import { callRoute, callsRoute } from '../pages/calls/route.ts';
import { fleetRoute } from '../pages/fleet/route.ts';
import { instanceRoute, instancesRoute, newInstanceRoute } from '../pages/instances/route.ts';
import { jobsRoute } from '../pages/jobs/route.ts';
import { keyRoute, keysRoute, newKeyRoute, subjectsRoute } from '../pages/keys/route.ts';
import { overviewRoute } from '../pages/overview/route.ts';
import { applicationsRoute, connectionsRoute, personsRoute } from '../pages/people/route.ts';
import { playgroundRoute } from '../pages/playground/route.ts';
import { startRoute } from '../pages/start/route.ts';
import { newSubscriptionRoute, subscriptionRoute, subscriptionsRoute } from '../pages/subscriptions/route.ts';
import { FailedPage, MissingPage } from './error-pages.tsx';
import { LoadingPage } from './loading-page.tsx';
import { rootRoute } from './root-route.ts';
import { signInRoute } from './sign-in-route.tsx';

export function createConsoleRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([
      signInRoute,
      overviewRoute.update({
        component: lazy(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
      }),
      callsRoute.update({ component: lazy(() => import('../pages/calls/calls-page.tsx'), 'CallsPage') }),
      callRoute.update({ component: lazy(() => import('../pages/calls/call-page.tsx'), 'CallPage') }),
      startRoute.update({ component: lazy(() => import('../pages/start/start-page.tsx'), 'StartPage') }),
      playgroundRoute.update({
        component: lazy(() => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'),
      }),
      keysRoute.update({ component: lazy(() => import('../pages/keys/keys-page.tsx'), 'KeysPage') }),
      subjectsRoute.update({
        component: lazy(() => import('../pages/keys/subjects-page.tsx'), 'SubjectsPage'),
      }),
      newKeyRoute.update({ component: lazy(() => import('../pages/keys/key-new-page.tsx'), 'NewKeyPage') }),
      keyRoute.update({ component: lazy(() => import('../pages/keys/key-page.tsx'), 'KeyPage') }),
      connectionsRoute.update({
        component: lazy(() => import('../pages/people/connections-page.tsx'), 'ConnectionsPage'),
      }),
      applicationsRoute.update({
        component: lazy(() => import('../pages/people/applications-page.tsx'), 'ApplicationsPage'),
      }),
      personsRoute.update({
        component: lazy(() => import('../pages/people/persons-page.tsx'), 'PersonsPage'),
      }),
      fleetRoute.update({ component: lazy(() => import('../pages/fleet/fleet-page.tsx'), 'FleetPage') }),
      instancesRoute.update({
        component: lazy(() => import('../pages/instances/instances-page.tsx'), 'InstancesPage'),
      }),
      newInstanceRoute.update({
        component: lazy(() => import('../pages/instances/instance-new-page.tsx'), 'NewInstancePage'),
      }),
      instanceRoute.update({
        component: lazy(() => import('../pages/instances/instance-page.tsx'), 'InstancePage'),
      }),
      subscriptionsRoute.update({
        component: lazy(() => import('../pages/subscriptions/subscriptions-page.tsx'), 'SubscriptionsPage'),
      }),
      newSubscriptionRoute.update({
        component: lazy(
          () => import('../pages/subscriptions/subscription-new-page.tsx'),
          'NewSubscriptionPage',
        ),
      }),
      subscriptionRoute.update({
        component: lazy(() => import('../pages/subscriptions/subscription-page.tsx'), 'SubscriptionPage'),
      }),
      jobsRoute.update({
        component: lazy(() => import('../pages/jobs/jobs-page.tsx'), 'JobsPage'),
      }),
      approvalsRoute.update({
        component: lazy(() => import('../pages/approvals/approvals-page.tsx'), 'ApprovalsPage'),
      }),
      approvalRoute.update({
        component: lazy(() => import('../pages/approvals/approval-page.tsx'), 'ApprovalPage'),
      }),
    ]),
    basepath: ROOT,
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
