/**
 * Searches the audit for one page of the console. The API scans a bounded part of the audit for each request, and may
 * return nothing although further records match: the search then continues from there, for a limited time.
 */
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';

export const PAGE_ROWS = 100;
/** After this time, the page shows up to which time the audit was searched. */
const SEARCH_MS_MAX = 2_000;

export interface AuditSearchPage {
  items: AuditView[];
  /** The cursor to continue the search; null if the whole audit was searched. */
  next: string | null;
  /** The time back to which the audit was searched; null: to its beginning. */
  searchedTo: string | null;
}

interface AuditSearchDeps {
  /** Asks the API for one page. */
  ask: (query: AuditQuery) => Promise<Page<AuditView>>;
  /** Milliseconds. */
  clock: () => number;
}

export async function searchAudit(
  { ask, clock }: AuditSearchDeps,
  query: AuditQuery,
  cursor: string | undefined,
): Promise<AuditSearchPage> {
  const endsAt = clock() + SEARCH_MS_MAX;
  const items: AuditView[] = [];
  let next = cursor ?? null;
  do {
    const page = await ask({
      ...query,
      limit: PAGE_ROWS - items.length,
      ...(next === null ? {} : { cursor: next }),
    });
    items.push(...page.items);
    next = page.next;
  } while (next !== null && items.length < PAGE_ROWS && clock() < endsAt);
  if (next === null) return { items, next, searchedTo: null };
  const last = items.length === PAGE_ROWS ? items.at(-1) : (await ask({ cursor: next, limit: 1 })).items[0];
  return { items, next, searchedTo: last?.time ?? null };
}
