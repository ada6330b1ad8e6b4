/** Prints the text that stands for an unreadable stored policy in lists, plans and messages. */
import type { UnreadablePolicy } from '@erp-proxy/contract';

export function explainUnreadable({ unreadable }: UnreadablePolicy): string {
  return `unreadable: ${unreadable}`;
}
