/** Prints the commands that do what the pages of subscriptions do. Pure. */
import { SUBSCRIPTION_DEFAULTS, SUBSCRIPTION_OPTIONS, type SubscriptionChanges } from '@erp-proxy/contract';
import { printMembers, quoteIfNeeded } from '../../parts/print-options.ts';

export function printSubscriptionCommand(
  command: 'add' | 'update',
  name: string,
  members: SubscriptionChanges,
): string {
  const options = printMembers(command, members, SUBSCRIPTION_OPTIONS, SUBSCRIPTION_DEFAULTS);
  return `subscriptions ${command} ${quoteIfNeeded(name === '' ? 'contacts' : name)}${options}`;
}
