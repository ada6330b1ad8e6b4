/** Summarizes policies in a few words. Pure. */
import type { KeyView } from '@erp-proxy/contract';

/** A summary for the list of keys: the most that a key may do. */
export function describePolicy(policy: KeyView['policy']): string {
  if (policy === null) return 'none: it may do everything';
  if ('unreadable' in policy) return 'unreadable: it makes no call';
  const servers = [...(policy.instances ?? []), ...(policy.origins ?? [])];
  const traits = [
    policy.publishable === true
      ? 'publishable'
      : policy.read_only === true
        ? 'reads only'
        : 'reads and writes',
    listSome(Object.keys(policy.models)),
    `on ${listSome(servers)}`,
  ];
  return traits.join(' · ');
}

const SHOWN_MAX = 2;

function listSome(names: readonly string[]): string {
  if (names.length === 0) return 'nothing';
  const more = names.length - SHOWN_MAX;
  return names.slice(0, SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
