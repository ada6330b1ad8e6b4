/** Follows the newest records of the audit: adds the records of each further poll, and limits the number of rows. */
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';

/** Maximum rows: more would slow the page down. */
export const ROWS_MAX = 500;
const PAGE_ROWS = 100;
/** Maximum requests of one poll. A busy proxy writes more records between two polls than one page has. */
const REQUESTS_MAX = 6;
/**
 * Each poll starts at a time that is this much before the previous poll, because clocks of replicas differ, and records
 * are written late.
 */
const OVERLAP_MS = 60_000;

export interface Followed {
  /** Records, the newest first. */
  rows: readonly AuditView[];
  /** When the proxy answered, by its own clock, in milliseconds since 1970. */
  readAt: number;
}

/** Asks the API for one page. `answeredAt`: the time of the answer by the proxy's clock. */
export type AskAudit = (query: AuditQuery) => Promise<{ page: Page<AuditView>; answeredAt: number }>;

/** Reads new records, or, without `before`, the newest page. */
export async function followAudit(
  ask: AskAudit,
  query: AuditQuery,
  before: Followed | undefined,
): Promise<Followed> {
  const newestBefore = before?.rows[0]?.seq;
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
    const added = countNewer(page.items, newestBefore);
    rows.push(...page.items.slice(0, added));
    next = page.next;
    const isKnown = added < page.items.length;
    if (next === null || isKnown || before === undefined || rows.length >= ROWS_MAX) break;
  }
  return { rows: [...rows, ...(before?.rows ?? [])].slice(0, ROWS_MAX), readAt };
}

/**
 * The number of records before the one with this number, which are newer. Numbers are not compared: those that an
 * operator sees who is limited to some of the instances have no order.
 */
export function countNewer(rows: readonly AuditView[], seq: number | undefined): number {
  const found = rows.findIndex((row) => row.seq === seq);
  return found === -1 ? rows.length : found;
}

function latest(one: string | undefined, other: string): string {
  return one !== undefined && Date.parse(one) > Date.parse(other) ? one : other;
}
