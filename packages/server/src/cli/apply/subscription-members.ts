/** The members of a subscription in a configuration file, without its name and what only the proxy knows. */
import type { SubscriptionChanges, SubscriptionView } from '@erp-proxy/contract';
import { SUBSCRIPTION_MEMBERS } from '@erp-proxy/contract/admin';

export function describeSubscription(view: SubscriptionView): SubscriptionChanges {
  const given = Object.entries(view).filter(([name]) => name in SUBSCRIPTION_MEMBERS);
  return Object.fromEntries(given);
}
