/** The audit in PostgreSQL: one chain of rows, whichever replica appends. Knows of a record what a search compares. */
import type { AuditPlace, AuditRow, AuditStore } from './ports.ts';
import type { Database, Statements } from './postgres-database.ts';
import { createParameters } from './postgres-sql.ts';

const COLUMNS = 'seq, at, record, hash';

/**
 * The record as `jsonb`, which refuses escapes of NUL and of halves of surrogate pairs: these are left out. JSON writes
 * both as escapes only, and a backslash as two.
 */
const RECORD = asJsonb('record');

function asJsonb(text: string): string {
  const withoutRefused = String.raw`regexp_replace(${text}, '(\\\\)|\\u(0000|[dD][89a-fA-F]..)', '\1', 'g')`;
  return String.raw`(CASE WHEN strpos(${text}, '\u') = 0 THEN ${text} ELSE ${withoutRefused} END)::jsonb`;
}

export function createPostgresAudit(database: Database): AuditStore {
  return {
    async append(records, hashRow) {
      if (records.length === 0) return;
      await database.transact(async (statements) => {
        // Appends of other replicas wait here until this one is done.
        let place = await readPlace(statements, 'head', 'FOR UPDATE');
        const rows = records.map(({ at, record }): AuditRow => {
          const seq = place.seq + 1;
          place = { seq, hash: hashRow(place.hash, seq, record) };
          return { ...place, at, record };
        });
        await statements.change(
          `WITH appended AS (
             INSERT INTO audit (${COLUMNS})
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[])
           )
           UPDATE audit_chain SET head_seq = $5, head_hash = $6`,
          [
            rows.map((row) => row.seq),
            rows.map((row) => row.at),
            rows.map((row) => row.record),
            rows.map((row) => row.hash),
            place.seq,
            place.hash,
          ],
        );
      });
    },
    async readAfter(seq, limit) {
      return await database.query<AuditRow>(
        `SELECT ${COLUMNS} FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2`,
        [seq, limit],
      );
    },
    async search({ beforeSeq, since, until, filters, limit, scanMax }) {
      const floor = await readPlace(database, 'floor');
      const head = await readPlace(database, 'head');
      const end = Math.min(beforeSeq ?? Number.POSITIVE_INFINITY, head.seq + 1);
      const start = Math.max(end - scanMax, floor.seq + 1);
      const { values, place } = createParameters(start, end);
      const conditions = ['seq >= $1', 'seq < $2'];
      if (since !== undefined) conditions.push(`at >= ${place(since)}`);
      if (until !== undefined) conditions.push(`at < ${place(until)}`);
      const wanted = JSON.stringify(filters);
      if (wanted !== '{}') conditions.push(`${RECORD} @> ${asJsonb(`${place(wanted)}::text`)}`);
      const rows = await database.query<AuditRow>(
        `SELECT ${COLUMNS} FROM audit WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ${place(limit)}`,
        values,
      );
      const next = rows.length === limit ? (rows.at(-1)?.seq ?? start) : start;
      return { rows, next: next > floor.seq + 1 ? next : null };
    },
    readHead: () => readPlace(database, 'head'),
    readFloor: () => readPlace(database, 'floor'),
    async prune(before, limit) {
      const [pruned] = await database.query<{ count: number }>(
        `WITH oldest AS (
           SELECT seq, at FROM audit
           WHERE seq > (SELECT floor_seq FROM audit_chain) ORDER BY seq LIMIT $2
         ), removed AS (
           DELETE FROM audit WHERE seq IN (
             SELECT seq FROM oldest
             WHERE seq < (SELECT coalesce(min(seq), ${Number.MAX_SAFE_INTEGER}) FROM oldest WHERE at >= $1)
           ) RETURNING seq, hash
         ), moved AS (
           UPDATE audit_chain SET floor_seq = last.seq, floor_hash = last.hash
           FROM (SELECT seq, hash FROM removed ORDER BY seq DESC LIMIT 1) AS last
         )
         SELECT count(*) AS count FROM removed`,
        [before, limit],
      );
      return pruned?.count ?? 0;
    },
  };
}

async function readPlace(
  statements: Statements,
  end: 'head' | 'floor',
  lock: 'FOR UPDATE' | '' = '',
): Promise<AuditPlace> {
  const [place] = await statements.query<AuditPlace>(
    `SELECT ${end}_seq AS seq, ${end}_hash AS hash FROM audit_chain ${lock}`,
  );
  if (place === undefined) throw new Error('The table audit_chain has lost its row.');
  return place;
}
