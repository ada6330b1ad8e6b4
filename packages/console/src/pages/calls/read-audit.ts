/** Reads the audit through the cache: one page of a search, the newest records, or one record. */
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { send, sendRaw } from '../../api/send.ts';
import { type AuditSearch, toAuditQuery } from './audit-filters.ts';
import { type Followed, followAudit } from './follow-audit.ts';

const FOLLOW_MS = 2_000;

export function readAuditPage(search: AuditSearch, cursor: string | undefined) {
  return queryOptions({
    queryKey: ['/audit', 'search', search, cursor],
    queryFn: ({ signal }) =>
      searchAudit(
        {
          ask: (query) => send<Page<AuditView>>(describeRequest(query), signal),
          clock: () => performance.now(),
        },
        toAuditQuery(search, Date.now()),
        cursor,
      ),
    placeholderData: keepPreviousData,
    // Not repeated by itself, because a search can be expensive.
    refetchOnWindowFocus: false,
  });
}

/** Reads new records every two seconds while the page is visible, and adds them. */
export function readNewestAudit(search: AuditSearch) {
  return queryOptions({
    queryKey: ['/audit', 'follow', search],
    queryFn: ({ signal, client, queryKey }) =>
      followAudit(
        async (query) => {
          const response = await sendRaw(describeRequest(query), signal);
          const page = (await response.json()) as Page<AuditView>;
          return { page, answeredAt: Date.parse(response.headers.get('date') ?? '') || Date.now() };
        },
        toAuditQuery(search, Date.now()),
        client.getQueryData<Followed>(queryKey),
      ),
    // Not cached: following again begins with the newest page.
    gcTime: 0,
    refetchInterval: FOLLOW_MS,
  });
}

/** Never stale, because records do not change. */
export function readAuditRecord(seq: number) {
  return queryOptions({
    queryKey: ['/audit', 'record', seq],
    queryFn: ({ signal }) => send<AuditView>({ method: 'GET', path: `/audit/${seq}` }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

function describeRequest(query: AuditQuery) {
  return { method: 'GET', path: '/audit', query: { ...query } } as const;
}

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

/**
 * Searches the audit for one page of the console. The API scans a bounded part of the audit for each request, and may
 * return nothing although further records match: the search then continues from there, for a limited time.
 */
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
