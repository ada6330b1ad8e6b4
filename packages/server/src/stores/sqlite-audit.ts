/** The audit in SQLite: one chain of rows, whichever process appends. Knows of a record what a search compares. */
import type { DatabaseSync } from 'node:sqlite';
import type { AuditPlace, AuditRow, AuditStore } from './ports.ts';
import { transact } from './sqlite-transaction.ts';

const HOUR_MS = 3_600_000;
const COLUMNS = 'seq, at, record, hash';

export function createSqliteAudit(database: DatabaseSync): AuditStore {
  const insert = database.prepare(`INSERT INTO audit (${COLUMNS}) VALUES (?, ?, ?, ?)`);
  const readAfter = database.prepare(`SELECT ${COLUMNS} FROM audit WHERE seq > ? ORDER BY seq LIMIT ?`);
  const readOldest = database.prepare('SELECT seq, at, hash FROM audit ORDER BY seq LIMIT ?');
  const remove = database.prepare('DELETE FROM audit WHERE seq <= ?');
  const removeHours = database.prepare('DELETE FROM audit_hours WHERE last_seq <= ?');
  const head = prepareEnd('head');
  const floor = prepareEnd('floor');
  // Where to search for a span of time. It is exact where clocks went back: an hour's rows may lie anywhere in between.
  const readSpan = database.prepare(
    `SELECT (SELECT min(first_seq) FROM audit_hours WHERE hour >= ?) AS first,
            (SELECT max(last_seq) FROM audit_hours WHERE hour <= ?) AS last`,
  );

  function prepareEnd(end: 'head' | 'floor') {
    const read = database.prepare(`SELECT ${end}_seq AS seq, ${end}_hash AS hash FROM audit_chain`);
    const move = database.prepare(`UPDATE audit_chain SET ${end}_seq = ?, ${end}_hash = ?`);
    return {
      read: () => read.get() as unknown as AuditPlace,
      move: ({ seq, hash }: AuditPlace) => move.run(seq, hash),
    };
  }

  return {
    append(records, hashRow) {
      if (records.length === 0) return;
      transact(database, () => {
        let place = head.read();
        for (const { at, record } of records) {
          const seq = place.seq + 1;
          place = { seq, hash: hashRow(place.hash, seq, record) };
          insert.run(seq, at, record, place.hash);
        }
        head.move(place);
      });
    },
    readAfter(seq, limit) {
      return readAfter.all(seq, limit) as unknown as AuditRow[];
    },
    search({ beforeSeq, since = 0, until = Number.MAX_SAFE_INTEGER, filters, limit, scanMax }) {
      const span = readSpan.get(Math.floor(since / HOUR_MS), Math.floor(until / HOUR_MS));
      const first = Math.max(Number(span?.['first'] ?? Infinity), floor.read().seq + 1);
      const end = Math.min(beforeSeq ?? Infinity, Number(span?.['last'] ?? 0) + 1);
      const start = Math.max(first, end - scanMax);
      if (start >= end) return { rows: [], next: null };

      const compared = Object.entries(filters).flatMap(([member, value]) =>
        value === undefined ? [] : [`$.${member}`, value],
      );
      const rows = database
        .prepare(
          `SELECT ${COLUMNS} FROM audit WHERE seq >= ? AND seq < ? AND at >= ? AND at < ?
           ${' AND record ->> ? = ?'.repeat(compared.length / 2)} ORDER BY seq DESC LIMIT ?`,
        )
        .all(start, end, since, until, ...compared, limit) as unknown as AuditRow[];
      const next = rows.length === limit ? (rows.at(-1)?.seq ?? start) : start;
      return { rows, next: next > first ? next : null };
    },
    readHead: head.read,
    readFloor: floor.read,
    prune(before, limit) {
      return transact(database, () => {
        let last: AuditPlace | undefined;
        for (const row of readOldest.all(limit) as unknown as AuditRow[]) {
          if (row.at >= before) break;
          last = row;
        }
        if (last === undefined) return 0;
        floor.move(last);
        removeHours.run(last.seq);
        return Number(remove.run(last.seq).changes);
      });
    },
  };
}
