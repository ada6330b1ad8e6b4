/**
 * Finds a domain that is given by name if the name depends on the version. `search` and `search_count` call it `args`
 * up to 15 and `domain` from 16 on, and some models still use `args` (docs/odoo-facts.md#domain-by-name). The position
 * is the same in all versions. A pure function.
 */
import type { JsonMember } from '@erp-proxy/json';

const METHODS: ReadonlySet<string> = new Set(['search', 'search_count']);

/** The member to pass by position instead; null if there is none, or if Odoo must report a mistake. */
export function findNamedDomain(method: string, named: readonly JsonMember[]): JsonMember | null {
  if (!METHODS.has(method)) return null;
  const found = named.filter(({ name }) => name === 'domain' || name === 'args');
  return found.length === 1 ? (found[0] ?? null) : null;
}
