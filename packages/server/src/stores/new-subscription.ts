import type { StoredSubscription, SubscriptionDefinition } from './ports/subscriptions.ts';

/** State of a subscription that was just stored. The tables of the databases have the same values as defaults. */
export const NEW_SUBSCRIPTION: Omit<StoredSubscription, keyof SubscriptionDefinition> = {
  state: 'active',
  reason: null,
  version: 1,
  readAt: null,
  problem: null,
  failures: 0,
  failingSince: null,
  retryAt: null,
  lastFailure: null,
  deliveredAt: null,
};
