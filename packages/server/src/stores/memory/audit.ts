/** The audit in memory. */
import { chainRows } from '../audit-chain.ts';
import { matchesFilters } from '../audit-filters.ts';
import type { AuditPosition, AuditRow, AuditStore } from '../ports.ts';
import { RecentBatches } from '../recent-batches.ts';

/** Characters of records that are scanned without a pause: they are parsed in the thread that serves calls. */
const SCAN_LENGTH_MAX = 256 * 1024;

export function createMemoryAudit(): AuditStore {
  /** In order, without the rows that retention has removed. */
  const rows: AuditRow[] = [];
  const appended = new RecentBatches();
  let floor: AuditPosition = { seq: 0, hash: new Uint8Array(32) };

  function readHead(): AuditPosition {
    const { seq, hash } = rows.at(-1) ?? floor;
    return { seq, hash };
  }

  return {
    append(batch) {
      appended.appendOnce(batch, () => {
        rows.push(...chainRows(batch, readHead()));
      });
    },
    readAfter(seq, limit) {
      const start = Math.max(0, seq - floor.seq);
      return rows.slice(start, start + limit);
    },
    search({ beforeSeq, since = -Infinity, until = Infinity, limit, scanMax, ...wanted }) {
      const end = Math.min(beforeSeq ?? Infinity, readHead().seq + 1);
      const start = Math.max(floor.seq + 1, end - scanMax);
      const found: AuditRow[] = [];
      let seq = end - 1;
      for (let length = 0; seq >= start && found.length < limit && length < SCAN_LENGTH_MAX; seq--) {
        const row = rows[seq - floor.seq - 1] as AuditRow;
        length += row.record.length;
        if (row.at >= since && row.at < until && matchesFilters(row, wanted)) found.push(row);
      }
      const next = seq + 1;
      return { rows: found, next: next > floor.seq + 1 ? next : null };
    },
    readHead,
    readFloor() {
      return floor;
    },
    prune(before, limit) {
      const kept = rows.slice(0, limit).findIndex((row) => row.at >= before);
      const removed = rows.splice(0, kept === -1 ? limit : kept);
      const last = removed.at(-1);
      if (last) floor = { seq: last.seq, hash: last.hash };
      return removed.length;
    },
  };
}
