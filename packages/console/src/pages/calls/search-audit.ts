/**
 * Searches the audit for one page of the console. The API scans a bounded part of the audit for each request, and may
 * return nothing although more follows: the search then goes on from there, for a bounded time.
 */
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';

export const PAGE_ROWS = 100;
/** After this time, the page shows how far the search has come. */
const SEARCH_MS_MAX = 2_000;

export interface AuditSearchPage {
  items: AuditView[];
  /** Continues the search; null: all of the audit was searched. */
  next: string | null;
  /** The time up to which the audit was searched; null: to its begin. */
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
