/** The members of a subscription in a configuration file, without its name and what only the proxy knows. */
import type { SubscriptionInput, SubscriptionView } from '@erp-proxy/contract';

export function describeSubscription(view: SubscriptionView): Omit<Required<SubscriptionInput>, 'name'> {
  return {
    instance: view.instance,
    model: view.model,
    domain: view.domain,
    fields: view.fields,
    url: view.url,
    interval_seconds: view.interval_seconds,
    payload: view.payload,
    gone: view.gone,
    start: view.start,
    key: view.key,
  };
}
