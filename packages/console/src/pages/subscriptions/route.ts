import type { DeliveryStateName, SubscriptionState } from '@erp-proxy/contract';
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { optional, readChoice, readText, type SearchValues } from '../../parts/search-values.ts';

export const SUBSCRIPTION_STATES = ['active', 'paused', 'disabled'] as const satisfies SubscriptionState[];
export const DELIVERY_STATES = [
  'waiting',
  'delivered',
  'failed',
  'merged',
] as const satisfies DeliveryStateName[];
const SUBSCRIPTION_TABS = ['overview', 'deliveries', 'settings', 'verify'] as const;
export type SubscriptionTab = (typeof SUBSCRIPTION_TABS)[number];

export const subscriptionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/subscriptions',
  validateSearch: (search: SearchValues) =>
    optional({
      search: readText(search['search']),
      state: readChoice(search['state'], SUBSCRIPTION_STATES),
      cursor: readText(search['cursor']),
    }),
});

export const newSubscriptionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/subscriptions/new',
});

export const subscriptionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/subscriptions/$name',
  validateSearch: (search: SearchValues) =>
    optional({
      tab: readChoice(search['tab'], SUBSCRIPTION_TABS),
      /** Filters deliveries by their state. */
      state: readChoice(search['state'], DELIVERY_STATES),
      cursor: readText(search['cursor']),
    }),
});
