/** Finds the page on which a problem that needs attention can be fixed. Pure. */
import type { AttentionItem } from '@erp-proxy/contract';
import { splitDatabase } from '@erp-proxy/contract';
import { findTargetLink, type PageLink } from '../../parts/target-link.ts';

/** Null if no page of the console can fix it. */
export function findAttentionLink({ kind, target }: Pick<AttentionItem, 'kind' | 'target'>): PageLink | null {
  switch (kind) {
    case 'approvals_pending':
      return { to: '/approvals', search: { state: 'pending' } };
    case 'internal_errors':
      return { to: '/calls', search: { outcome: 'internal', last: '1h' } };
    case 'calls_refused':
      return { to: '/calls', search: { outcome: 'overloaded', last: '1h' } };
    case 'breaker_open':
      return { to: '/calls', search: { ...toFilters(readName(target)), last: '1h' } };
    default:
      return findTargetLink(target);
  }
}

/** Prints the target in the form that people know. */
export function printTarget({ kind, target }: Pick<AttentionItem, 'kind' | 'target'>): string {
  if (kind !== 'breaker_open') return target;
  const { server, db } = splitDatabase(readName(target));
  return `${server} ${db}`;
}

/** The target without its first word, which is its kind. */
function readName(target: string): string {
  return /^\S+ ([\s\S]*)$/.exec(target)?.[1] ?? '';
}

function toFilters(database: string): Record<string, string> {
  const { server, db } = splitDatabase(database);
  return db === '' ? { upstream: server } : { upstream: server, db };
}
