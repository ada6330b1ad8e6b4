/** Compares a row of the audit with the filters of a search, for stores that cannot do this in SQL. Pure. */
import type { AuditFilters, AuditRow } from './ports.ts';

/** A record that is not JSON matches no filter. */
export function matchesFilters({ record }: Pick<AuditRow, 'record'>, filters: AuditFilters): boolean {
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined);
  if (wanted.length === 0) return true;
  try {
    const members: Record<string, unknown> = JSON.parse(record) ?? {};
    return wanted.every(([member, value]) => members[member] === value);
  } catch {
    return false;
  }
}
