/** The audit in memory: its rows in order, without those that retention has removed. */
import type { AuditFilters, AuditPlace, AuditRow, AuditStore } from './ports.ts';

export function createMemoryAudit(): AuditStore {
  const rows: AuditRow[] = [];
  let floor: AuditPlace = { seq: 0, hash: new Uint8Array(32) };

  function readHead(): AuditPlace {
    const { seq, hash } = rows.at(-1) ?? floor;
    return { seq, hash };
  }

  return {
    append(records, hashRow) {
      let before = readHead();
      const added = records.map(({ at, record }): AuditRow => {
        const seq = before.seq + 1;
        const row = { seq, at, record, hash: hashRow(before.hash, seq, record) };
        before = row;
        return row;
      });
      rows.push(...added);
    },
    readAfter(seq, limit) {
      const start = Math.max(0, seq - floor.seq);
      return rows.slice(start, start + limit);
    },
    search({ beforeSeq, since = -Infinity, until = Infinity, filters, limit, scanMax }) {
      const end = Math.min(beforeSeq ?? Infinity, readHead().seq + 1);
      const start = Math.max(floor.seq + 1, end - scanMax);
      const found = rows
        .slice(start - floor.seq - 1, Math.max(0, end - floor.seq - 1))
        .reverse()
        .filter((row) => row.at >= since && row.at < until && matches(row, filters))
        .slice(0, limit);
      const next = found.length === limit ? (found.at(-1)?.seq ?? start) : start;
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

function matches({ record }: AuditRow, filters: AuditFilters): boolean {
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined);
  if (wanted.length === 0) return true;
  const members: Record<string, unknown> = JSON.parse(record);
  return wanted.every(([member, value]) => members[member] === value);
}
