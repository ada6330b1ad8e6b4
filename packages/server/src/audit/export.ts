/** Exports all matching records, oldest first, up to the newest record at the start. */

import { createPauses } from '@erp-proxy/async/tasks';
import type { AuditQuery, AuditView } from '@erp-proxy/contract';
import type { AuditStore } from '../stores/ports/audit.ts';
import { readSelection, type Selection } from './query.ts';
import { readView, SLICE_LENGTH } from './record.ts';

const PAGE_ROWS = 200;

type ReadStore = Pick<AuditStore, 'readAfter' | 'readHead'>;

export function exportRecords(store: ReadStore, query: AuditQuery): AsyncIterable<AuditView> {
  return readRecords(store, readSelection(query));
}

async function* readRecords(
  store: ReadStore,
  { since, until, ...wanted }: Selection,
): AsyncGenerator<AuditView> {
  const head = await store.readHead();
  const last = head?.seq ?? Number.POSITIVE_INFINITY;
  const pause = createPauses(SLICE_LENGTH);
  for (let seq = 0; seq < last; ) {
    const rows = await store.readAfter(seq, PAGE_ROWS);
    if (rows.length === 0) return;
    for (const row of rows) {
      if (row.seq > last) return;
      seq = row.seq;
      await pause(row.record.length);
      // Rows of several processes are not strictly ordered by time, so the export cannot stop at `until`.
      if ((since !== undefined && row.at < since) || (until !== undefined && row.at >= until)) continue;
      const view = readView(row);
      if (matches(view, wanted)) yield view;
    }
  }
}

function matches(view: AuditView, { filters, exceptOutcomes }: Omit<Selection, 'since' | 'until'>): boolean {
  const members: Record<string, unknown> = { ...view };
  if (exceptOutcomes !== undefined && (view.kind !== 'call' || exceptOutcomes.includes(view.outcome)))
    return false;
  return Object.entries(filters).every(([name, value]) => members[name] === value);
}
