/**
 * The audit in SQLite: one chain of rows for all processes. Knows only those members of a record that a search
 * compares.
 */
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { CHAIN_LOST, chainRows, SEQ_MAX } from '../audit-chain.ts';
import type { AuditBatch, AuditPosition, AuditRow, AuditStore } from '../ports/audit.ts';
import { StoreError } from '../store-error.ts';
import { transact } from './transaction.ts';

const HOUR_MS = 3_600_000;
const COLUMNS = 'seq, at, record, hash';
/** The columns of a row. Numbers that were changed by hand are limited to the range of JavaScript. */
const READ_COLUMNS = `seq, ${bound('at')} AS at, record, hash`;

/** Condition on the member of a record at a path; the member is NULL if the record is not JSON. */
const MEMBER = ' AND CASE WHEN json_valid(record) THEN record ->> ? END';
const ACTOR =
  " AND CASE WHEN json_valid(record) THEN coalesce(record ->> '$.actor.id', record ->> '$.actor') END = ?";

/** Last rows in which a repeated batch is looked for: more than other processes append before the repetition. */
const TAIL_ROWS = 5000;

/**
 * `isSuccessor`: an earlier thread may have committed a batch and ended before its answer. `scanBytesMax`: maximum size
 * of the records that a search compares; the last record may exceed it.
 */
export function createSqliteAudit(
  database: DatabaseSync,
  { isSuccessor = false, scanBytesMax = Infinity } = {},
): AuditStore {
  const append = prepareAppend(database);
  const findInTail = database.prepare(
    `SELECT 1 FROM audit WHERE seq > (SELECT head_seq FROM audit_chain) - ${TAIL_ROWS} AND record = ? LIMIT 1`,
  );
  // Records differ: each has the id of its request and its time.
  const hasTail = ({ records }: AuditBatch) =>
    records.every(({ record }) => findInTail.get(record) !== undefined);
  const appendBatch = (batch: AuditBatch) => {
    if (!isSuccessor || !hasTail(batch)) append(batch);
  };
  const appended = new RecentBatches();
  const readAfter = database.prepare(
    `SELECT ${READ_COLUMNS} FROM audit WHERE seq > ? AND seq <= ${Number.MAX_SAFE_INTEGER} ORDER BY seq LIMIT ?`,
  );
  const readOldest = database.prepare(
    `SELECT ${bound('seq')} AS seq, ${bound('at')} AS at, hash FROM audit ORDER BY audit.seq LIMIT ?`,
  );
  const remove = database.prepare('DELETE FROM audit WHERE seq <= ?');
  const removeHours = database.prepare('DELETE FROM audit_hours WHERE last_seq <= ?');
  const head = prepareEnd(database, 'head');
  const floor = prepareEnd(database, 'floor');
  // Finds the rows to search for a range of time. If clocks went back, rows of an hour can be anywhere in the range of
  // that hour.
  const readSpan = database.prepare(
    `SELECT (SELECT min(first_seq) FROM audit_hours WHERE hour >= ?) AS first,
            (SELECT max(last_seq) FROM audit_hours WHERE hour <= ?) AS last`,
  );
  // Two subqueries: with one query for both ends, SQLite would read all rows instead of using the index.
  const inRange = `FROM audit WHERE seq BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}`;
  const readRows = database.prepare(
    `SELECT (SELECT min(seq) ${inRange}) AS first, (SELECT max(seq) ${inRange}) AS last`,
  );

  /**
   * Range of the rows whose time can be in the range. Without a time limit, all rows, even if rows of `audit_hours` are
   * missing.
   */
  function findSpan(since: number | undefined, until: number | undefined): { first: number; last: number } {
    const hour = (time: number) => Math.floor(time / HOUR_MS);
    const hours = readSpan.get(hour(since ?? 0), hour(until ?? Number.MAX_SAFE_INTEGER));
    const rows = readRows.get();
    const last = Number(hours?.['last'] ?? 0);
    const lastRow = Math.min(head.read()?.seq ?? Infinity, Number(rows?.['last'] ?? 0));
    return {
      first: Number((since === undefined ? rows : hours)?.['first'] ?? Infinity),
      last: until === undefined ? Math.max(last, lastRow) : last,
    };
  }

  const readSink = database.prepare('SELECT seq, hash FROM audit_sinks WHERE name = ?');
  const addSink = database.prepare(
    'INSERT INTO audit_sinks (name, seq, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const moveSink = database.prepare('UPDATE audit_sinks SET seq = ?, hash = ? WHERE name = ? AND seq = ?');
  const readSizes = database.prepare(
    'SELECT seq, octet_length(record) AS bytes FROM audit WHERE seq >= ? AND seq < ? ORDER BY seq DESC',
  );

  /** The first row of a scan: `start`, or a later row if the records are large. */
  function limitScan(start: number, end: number): number {
    if (scanBytesMax === Infinity) return start;
    let bytes = 0;
    for (const row of readSizes.iterate(start, end)) {
      bytes += Number(row['bytes']);
      if (bytes >= scanBytesMax) return Number(row['seq']);
    }
    return start;
  }

  return {
    async append(batch) {
      appended.appendOnce(batch, () => transact(database, () => appendBatch(batch)));
    },
    async readAfter(seq, limit) {
      return readAfter.all(seq, limit) as unknown as AuditRow[];
    },
    async search({ beforeSeq, since, until, filters, exceptOutcomes, limit, scanMax }) {
      const span = findSpan(since, until);
      const first = Math.max(span.first, (floor.read()?.seq ?? 0) + 1);
      const end = Math.min(beforeSeq ?? Infinity, span.last + 1);
      const start = limitScan(Math.max(first, end - scanMax), end);
      if (start >= end) return { rows: [], next: null };

      const { actor, ...others } = filters;
      const compared = Object.entries(others).flatMap(([member, value]) =>
        value === undefined ? [] : [`$.${member}`, value],
      );
      const rows = database
        .prepare(
          `SELECT ${READ_COLUMNS} FROM audit WHERE seq >= ? AND seq < ? AND ${bound('at')} >= ? AND ${bound('at')} < ?
           ${`${MEMBER} = ?`.repeat(compared.length / 2)}${actor === undefined ? '' : ACTOR}
           ${exceptOutcomes === undefined ? '' : `${MEMBER} NOT IN (SELECT value FROM json_each(?))`} ORDER BY seq DESC LIMIT ?`,
        )
        .all(
          start,
          end,
          since ?? 0,
          until ?? Number.MAX_SAFE_INTEGER,
          ...compared,
          ...(actor === undefined ? [] : [actor]),
          ...(exceptOutcomes === undefined ? [] : ['$.outcome', JSON.stringify(exceptOutcomes)]),
          limit,
        ) as unknown as AuditRow[];
      const next = rows.length === limit ? (rows.at(-1)?.seq ?? start) : start;
      return { rows, next: next > first ? next : null };
    },
    readHead: async () => head.read(),
    readFloor: async () => floor.read(),
    readSink: async (name) => (readSink.get(name) ?? null) as AuditPosition | null,
    async moveSink(name, from, { seq, hash }) {
      const { changes } = from === null ? addSink.run(name, seq, hash) : moveSink.run(seq, hash, name, from);
      return Number(changes) > 0;
    },
    async prune(before, limit) {
      return transact(database, () => {
        if (floor.read() === null) return 0;
        let last: AuditPosition | undefined;
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

/** Returns a function that appends a batch within the current transaction. */
export function prepareAppend(database: DatabaseSync): (batch: AuditBatch) => void {
  const insert = database.prepare(`INSERT INTO audit (${COLUMNS}) VALUES (?, ?, ?, ?)`);
  const head = prepareEnd(database, 'head');
  return (batch) => {
    const position = head.read();
    if (position === null)
      throw new StoreError(`The audit cannot be written: ${CHAIN_LOST}`, { reason: CHAIN_LOST });
    const rows = chainRows(batch, position);
    for (const { seq, at, record, hash } of rows) insert.run(seq, at, record, hash);
    const last = rows.at(-1);
    if (last !== undefined) head.move(last);
  };
}

function prepareEnd(database: DatabaseSync, end: 'head' | 'floor') {
  const read = database.prepare(`SELECT ${bound(`${end}_seq`)} AS seq, ${end}_hash AS hash FROM audit_chain`);
  const move = database.prepare(`UPDATE audit_chain SET ${end}_seq = ?, ${end}_hash = ?`);
  return {
    read: () => (read.get() ?? null) as AuditPosition | null,
    move: ({ seq, hash }: AuditPosition) => move.run(seq, hash),
  };
}

function bound(column: string): string {
  return `max(min(${column}, ${SEQ_MAX}), ${Number.MIN_SAFE_INTEGER})`;
}

/** Small, because a writer repeats a failed batch before it appends the next one. */
const BATCHES_MAX = 100;

/**
 * Remembers which batches of the audit were appended recently, for stores in which a failed append changes nothing.
 */
class RecentBatches {
  readonly #ids = new LRUCache<string, true>({ max: BATCHES_MAX });

  /** Runs `append` unless it has already succeeded for this batch. */
  appendOnce({ id, records }: AuditBatch, append: () => void): void {
    if (records.length === 0 || this.#ids.has(id)) return;
    append();
    this.#ids.set(id, true);
  }
}
