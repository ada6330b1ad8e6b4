/** Follows the newest records of the audit: what a further reading adds, and how many rows are kept. */
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';

/** More rows would slow the page down. */
export const ROWS_MAX = 500;
const PAGE_ROWS = 100;
/** Further pages are read for this many requests: more calls than that happen between two readings of a busy proxy. */
const REQUESTS_MAX = 6;
/** Clocks of replicas differ, and records are written late. Only bounds what the store must scan. */
const OVERLAP_MS = 60_000;

export interface Followed {
  /** The newest first. */
  rows: readonly AuditView[];
  /** When the proxy has answered, by its clock, in milliseconds since 1970. */
  readAt: number;
}

/** Asks the API for one page, and tells when it answered by its own clock. */
export type AskAudit = (query: AuditQuery) => Promise<{ page: Page<AuditView>; answeredAt: number }>;

/** Reads what is new. Without `before`, the newest page. */
export async function followAudit(
  ask: AskAudit,
  query: AuditQuery,
  before: Followed | undefined,
): Promise<Followed> {
  const newestSeq = before?.rows[0]?.seq ?? 0;
  const window =
    before === undefined
      ? {}
      : { since: latest(query.since, new Date(before.readAt - OVERLAP_MS).toISOString()) };
  const rows: AuditView[] = [];
  let next: string | null = null;
  let readAt = 0;
  for (let requests = 1; requests <= REQUESTS_MAX; requests++) {
    const { page, answeredAt } = await ask({
      ...query,
      ...window,
      limit: PAGE_ROWS,
      ...(next === null ? {} : { cursor: next }),
    });
    if (readAt === 0) readAt = answeredAt;
    rows.push(...page.items.filter(({ seq }) => seq > newestSeq));
    next = page.next;
    const isKnown = page.items.some(({ seq }) => seq <= newestSeq);
    if (next === null || isKnown || before === undefined || rows.length >= ROWS_MAX) break;
  }
  return { rows: [...rows, ...(before?.rows ?? [])].slice(0, ROWS_MAX), readAt };
}

function latest(one: string | undefined, other: string): string {
  return one !== undefined && Date.parse(one) > Date.parse(other) ? one : other;
}
