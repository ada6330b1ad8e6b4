/** Prints the commands that correspond to the pages of subscriptions. Pure. */
import type { SubscriptionChanges } from '@erp-proxy/contract';
import { printOptions, quoteIfNeeded } from '../../parts/print-options.ts';

export function printSubscriptionCommand(
  command: 'add' | 'update',
  name: string,
  members: SubscriptionChanges,
): string {
  const { instance, model, domain, fields, url, interval_seconds, payload, gone, start, key, events } =
    members;
  const options = printOptions({
    events: events?.join(','),
    instance,
    model,
    domain:
      domain === undefined || (command === 'add' && domain.length === 0) ? undefined : JSON.stringify(domain),
    fields: fields?.join(','),
    receiver: url,
    interval: interval_seconds,
    payload,
    gone,
    'no-gone': command === 'update' && gone === false,
    start,
    key: key === null ? (command === 'add' ? undefined : 'none') : key,
  });
  return `subscriptions ${command} ${quoteIfNeeded(name === '' ? 'contacts' : name)}${options}`;
}
