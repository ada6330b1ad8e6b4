/**
 * Reads one page of the audit, newest first. A store scans a limited number of rows at a time, so that a search for a
 * rare value delays no call. The next page continues where this one ended.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPauses } from '@erp-proxy/async/tasks';
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';
import type { AuditRow, AuditStore } from '../stores/ports/audit.ts';
import { printCursor, readCursor, readLimit, readSelection } from './query.ts';
import { readView, SLICE_LENGTH } from './record.ts';

/** Number of rows that a store scans without a pause, which takes some milliseconds. */
const SCAN_ROWS_MAX = 2000;
const SCANS_MAX = 50;
/**
 * Number of characters of records on a page. The record that reaches it is the last one, because a page is serialized
 * without a pause.
 */
const PAGE_LENGTH_MAX = 1024 * 1024;

/** The record with this number; null if there is none, or retention has removed it. */
export async function findRecord(store: Pick<AuditStore, 'search'>, seq: number): Promise<AuditView | null> {
  const { rows } = await store.search({ filters: {}, beforeSeq: seq + 1, limit: 1, scanMax: 1 });
  const [row] = rows;
  return row?.seq === seq ? readView(row) : null;
}

export async function searchRecords(
  store: Pick<AuditStore, 'search'>,
  query: AuditQuery,
): Promise<Page<AuditView>> {
  const selection = readSelection(query);
  const limit = readLimit(query);
  let beforeSeq = readCursor(query);
  const found: AuditRow[] = [];
  for (let scans = 1; ; scans++) {
    const { rows, next } = await store.search({
      ...selection,
      beforeSeq,
      limit: limit - found.length,
      scanMax: SCAN_ROWS_MAX,
    });
    found.push(...rows);
    beforeSeq = next;
    if (next === null || found.length === limit || scans === SCANS_MAX) break;
    await nextTurn();
  }
  const items = await readViews(found);
  if (items.length < found.length) beforeSeq = found[items.length - 1]?.seq ?? beforeSeq;
  return { items, next: beforeSeq === null ? null : printCursor(beforeSeq) };
}

/** Parses rows until their records reach {@link PAGE_LENGTH_MAX}. */
async function readViews(rows: readonly AuditRow[]): Promise<AuditView[]> {
  const views: AuditView[] = [];
  const pause = createPauses(SLICE_LENGTH);
  let length = 0;
  for (const row of rows) {
    views.push(readView(row));
    length += row.record.length;
    if (length >= PAGE_LENGTH_MAX) break;
    await pause(row.record.length);
  }
  return views;
}
