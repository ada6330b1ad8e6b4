/** Describes what a subscription sends. Pure. */
import type { SubscriptionView } from '@erp-proxy/contract';

export function describeSource(subscription: SubscriptionView): string {
  if (subscription.events !== undefined) return subscription.events.join(', ');
  return `${subscription.model} on ${subscription.instance}`;
}
