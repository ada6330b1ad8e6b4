/** The members of a subscription in a configuration file, without its name and members that only the proxy sets. */
import type { SubscriptionChanges, SubscriptionView } from '@erp-proxy/contract';
import { SUBSCRIPTION_MEMBERS } from '@erp-proxy/contract/admin';

const OF_EVENTS: ReadonlySet<string> = new Set(['events']);
const SHARED: ReadonlySet<string> = new Set(['url', 'interval_seconds', 'start']);

export function describeSubscription(view: SubscriptionView): SubscriptionChanges {
  const names = Object.keys(SUBSCRIPTION_MEMBERS) as (keyof typeof SUBSCRIPTION_MEMBERS)[];
  const isOfEvents = view.events !== undefined;
  const given = names.filter((name) => isOfEvents === OF_EVENTS.has(name) || SHARED.has(name));
  return Object.fromEntries(given.map((name) => [name, view[name]]));
}
