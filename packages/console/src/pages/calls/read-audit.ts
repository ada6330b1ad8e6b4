/** Reads the audit through the cache: one page of a search, the newest records, or one record. */
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { send, sendRaw } from '../../api/send.ts';
import { type AuditSearch, toAuditQuery } from './audit-filters.ts';
import { type Followed, followAudit } from './follow-audit.ts';
import { searchAudit } from './search-audit.ts';

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
