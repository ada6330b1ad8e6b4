/** The stored instances that a policy allows. Pure. */
import { compileGlob } from '@erp-proxy/contract';
import type { ReadDraft } from './policy-draft.ts';

/** Names in the order of `stored`, after names without `*`, which are listed whether or not they are in `stored`. */
export function listAllowedInstances(read: ReadDraft, stored: readonly string[]): string[] {
  const patterns = 'policy' in read && Array.isArray(read.policy?.instances) ? read.policy.instances : [];
  const texts = patterns.filter((pattern) => typeof pattern === 'string' && pattern !== '');
  const names = texts.filter((pattern) => !pattern.includes('*'));
  const found = stored.filter((name) => texts.some((pattern) => compileGlob(pattern)(name)));
  return [...new Set([...names, ...found])];
}
