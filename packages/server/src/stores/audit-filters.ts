/** Compares a row of the audit with the filters of a search, for stores that cannot do this in SQL. Pure. */
import type { AuditRow, AuditSearch } from './ports/audit.ts';

/** A record that is not JSON matches no filter. */
export function matchesFilters(
  { record }: Pick<AuditRow, 'record'>,
  { filters, exceptOutcomes }: Pick<AuditSearch, 'filters' | 'exceptOutcomes'>,
): boolean {
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined);
  if (wanted.length === 0 && exceptOutcomes === undefined) return true;
  try {
    const members: Record<string, unknown> = JSON.parse(record) ?? {};
    const { outcome } = members;
    const isExcepted =
      exceptOutcomes !== undefined && (typeof outcome !== 'string' || exceptOutcomes.includes(outcome));
    return !isExcepted && wanted.every(([member, value]) => members[member] === value);
  } catch {
    return false;
  }
}
