/**
 * Reads one page of the audit, newest first. A store scans a bounded number of rows at a time, so that a search for a
 * rare value delays no call. The next page continues where this one ended.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';
import type { AuditRow, AuditStore } from '../stores/ports.ts';
import { printCursor, readCursor, readLimit, readSelection } from './query.ts';
import { readView } from './record.ts';

/** Rows that a store scans without a pause, which takes some milliseconds. */
const SCAN_ROWS_MAX = 2000;
const SCANS_MAX = 50;

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
  return { items: found.map(readView), next: beforeSeq === null ? null : printCursor(beforeSeq) };
}
