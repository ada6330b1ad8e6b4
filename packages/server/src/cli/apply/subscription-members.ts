/** The members of a subscription in a configuration file, without its name and what only the proxy knows. */
import type { SubscriptionChanges, SubscriptionView } from '@erp-proxy/contract';

export function describeSubscription(view: SubscriptionView): SubscriptionChanges {
  const { url, interval_seconds, start } = view;
  if (view.events !== undefined) return { events: view.events, url, interval_seconds, start };
  return {
    instance: view.instance,
    model: view.model,
    domain: view.domain,
    fields: view.fields,
    url,
    interval_seconds,
    payload: view.payload,
    gone: view.gone,
    start,
    key: view.key,
  };
}
