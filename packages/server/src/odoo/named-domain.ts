/**
 * Finds a domain that is given by name where the name depends on the version: `search` and `search_count` call it
 * `args` up to 15 and `domain` from 16 on, and some models go on with `args` (docs/odoo-facts.md#domain-by-name). Its
 * position is the same in all. Pure.
 */
import type { JsonMember } from '../json/span.ts';

const METHODS: ReadonlySet<string> = new Set(['search', 'search_count']);

/** The member to give by position instead; null where none is, or where Odoo must say what is wrong. */
export function findNamedDomain(method: string, named: readonly JsonMember[]): JsonMember | null {
  if (!METHODS.has(method)) return null;
  const found = named.filter(({ name }) => name === 'domain' || name === 'args');
  return found.length === 1 ? (found[0] ?? null) : null;
}
