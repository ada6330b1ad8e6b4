/** The text for a stored policy that cannot be read, for lists, plans and messages. */
import type { UnreadablePolicy } from '@erp-proxy/contract';

export function explainUnreadable({ unreadable }: UnreadablePolicy): string {
  return `unreadable: ${unreadable}`;
}
