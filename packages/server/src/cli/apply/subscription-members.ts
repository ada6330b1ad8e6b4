/** The members of a subscription in a configuration file, without its name and members that only the proxy sets. */
import type { SubscriptionChanges, SubscriptionView } from '@erp-proxy/contract';
import { SUBSCRIPTION_MEMBERS, SUBSCRIPTION_PARTS } from '@erp-proxy/contract/admin';

export function describeSubscription(view: SubscriptionView): SubscriptionChanges {
  const { shared, records, events } = SUBSCRIPTION_PARTS;
  const known = { ...shared, ...(view.events === undefined ? records : events) };
  const names = Object.keys(SUBSCRIPTION_MEMBERS) as (keyof typeof SUBSCRIPTION_MEMBERS)[];
  return Object.fromEntries(names.filter((name) => name in known).map((name) => [name, view[name]]));
}
