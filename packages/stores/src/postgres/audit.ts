/**
 * The audit in PostgreSQL: one chain of rows for all replicas. Knows only those members of a record that a search
 * compares.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { CHAIN_LOST, chainRows, SEQ_MAX } from '../audit-chain.ts';
import type { AuditBatch, AuditPosition, AuditRow, AuditSearch, AuditStore } from '../ports/audit.ts';
import { createParameters } from '../sql.ts';
import type { Statements } from '../statements.ts';
import { StoreError, UnknownOutcomeError } from '../store-error.ts';
import { readCode } from './failures.ts';
import type { Database } from './statements.ts';

const COLUMNS = 'seq, at, record, hash';
/** Small, because a writer repeats a failed batch before it appends the next one. */
const ATTEMPTS_MAX = 100;

/**
 * The record as `jsonb`, without the escapes that `jsonb` refuses: NUL and halves of surrogate pairs. JSON can contain
 * both only as escapes, and escapes a backslash as two.
 */
const RECORD = asJsonb('record');

function asJsonb(text: string): string {
  const withoutRefused = String.raw`regexp_replace(${text}, '(\\\\)|\\u(0000|[dD][89a-fA-F]..)', '\1', 'g')`;
  return String.raw`(CASE WHEN strpos(${text}, '\u') = 0 THEN ${text} ELSE ${withoutRefused} END)::jsonb`;
}

export function createPostgresAudit(database: Database): AuditStore {
  /** Position of each batch whose append may have succeeded. */
  const attempts = new LRUCache<string, AuditPosition>({ max: ATTEMPTS_MAX });

  /** Range of the existing rows, within the stored ends of the chain if these are present. */
  async function readSpan(): Promise<{ first: number; last: number }> {
    const [span] = await database.query<{ first: number; last: number }>(
      `SELECT greatest(rows.first, ends.floor + 1) AS first, least(rows.last, ends.head) AS last
       FROM (
         SELECT coalesce(min(seq), 1) AS first, coalesce(max(seq), 0) AS last
         FROM audit WHERE seq BETWEEN 1 AND ${SEQ_MAX}
       ) AS rows LEFT JOIN (
         SELECT ${bound('floor_seq')} AS floor, ${bound('head_seq')} AS head FROM audit_chain
       ) AS ends ON true`,
    );
    return span ?? { first: 1, last: 0 };
  }

  return {
    async append(batch) {
      if (batch.records.length === 0) return;
      await database.transact(async (statements) => {
        const position = attempts.get(batch.id);
        if (position !== undefined && (await isAppended(statements, position))) return;
        attempts.set(batch.id, await appendBatch(statements, batch));
      });
    },
    async readAfter(seq, limit) {
      return await database.query<AuditRow>(
        `SELECT ${COLUMNS} FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2`,
        [seq, limit],
      );
    },
    async search({ beforeSeq, since, until, filters, exceptOutcomes, limit, scanMax }) {
      const { first, last } = await readSpan();
      const end = Math.min(beforeSeq ?? Number.POSITIVE_INFINITY, last + 1);
      const start = Math.max(end - scanMax, first);
      const { values, place } = createParameters(start, end);
      const conditions = ['seq >= $1', 'seq < $2'];
      if (since !== undefined) conditions.push(`at >= ${place(since)}`);
      if (until !== undefined) conditions.push(`at < ${place(until)}`);
      const select = (given: readonly unknown[], more: string) =>
        database.query<AuditRow>(
          `SELECT ${COLUMNS} FROM audit WHERE ${conditions.join(' AND ')} ${more}`,
          given,
        );
      const { actor, ...others } = filters;
      const wanted = JSON.stringify(others);
      const rows =
        wanted === '{}' && actor === undefined && exceptOutcomes === undefined
          ? await select([...values, limit], `ORDER BY seq DESC LIMIT $${values.length + 1}`)
          : await select(
              [...values, wanted, exceptOutcomes ?? null, actor ?? null, limit],
              `AND ${RECORD} @> ${asJsonb(`$${values.length + 1}::text`)}
               AND ($${values.length + 2}::text[] IS NULL OR ${RECORD} ->> 'outcome' <> ALL($${values.length + 2}))
               AND ($${values.length + 3}::text IS NULL
                 OR coalesce(${RECORD} -> 'actor' ->> 'id', ${RECORD} ->> 'actor') = $${values.length + 3})
               ORDER BY seq DESC LIMIT $${values.length + 4}`,
            ).catch(async (error: unknown) => {
              if (!isUnsearchable(error)) throw error;
              const all = await select(values, 'ORDER BY seq DESC');
              return all.filter((row) => matchesFilters(row, { filters, exceptOutcomes })).slice(0, limit);
            });
      const next = rows.length === limit ? (rows.at(-1)?.seq ?? start) : start;
      return { rows, next: next > first ? next : null };
    },
    readHead: () => readPosition(database, 'head'),
    readFloor: () => readPosition(database, 'floor'),
    async readSink(name) {
      const [position] = await database.query<AuditPosition>(
        'SELECT seq, hash FROM audit_sinks WHERE name = $1',
        [name],
      );
      return position ?? null;
    },
    async moveSink(name, from, { seq, hash }) {
      const count =
        from === null
          ? await database.change(
              'INSERT INTO audit_sinks (name, seq, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
              [name, seq, hash],
            )
          : await database.change('UPDATE audit_sinks SET seq = $3, hash = $4 WHERE name = $1 AND seq = $2', [
              name,
              from,
              seq,
              hash,
            ]);
      return count > 0;
    },
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

/**
 * Whether the transaction that appended this row was committed. The transaction has ended once the head can be locked.
 */
async function isAppended(statements: Statements, { seq, hash }: AuditPosition): Promise<boolean> {
  await lockHead(statements);
  const rows = await statements.query('SELECT FROM audit WHERE seq = $1 AND hash = $2', [seq, hash]);
  return rows.length > 0;
}

/** Makes appends of other replicas wait until the transaction has ended. */
async function lockHead(statements: Statements): Promise<AuditPosition> {
  const head = await readPosition(statements, 'head', 'FOR UPDATE');
  if (head === null)
    throw new StoreError(`The audit cannot be written: ${CHAIN_LOST}`, { reason: CHAIN_LOST });
  return head;
}

/** Appends a batch within the current transaction. Returns the position of its last row. */
async function appendBatch(statements: Statements, batch: AuditBatch): Promise<AuditPosition> {
  const head = await lockHead(statements);
  const rows = chainRows(batch, head);
  const end = rows.at(-1) ?? head;
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
      end.seq,
      end.hash,
    ],
  );
  return end;
}

async function readPosition(
  statements: Statements,
  end: 'head' | 'floor',
  lock: 'FOR UPDATE' | '' = '',
): Promise<AuditPosition | null> {
  const [position] = await statements.query<AuditPosition>(
    `SELECT ${bound(`${end}_seq`)} AS seq, ${end}_hash AS hash FROM audit_chain ${lock}`,
  );
  return position ?? null;
}

/** Limits numbers that were changed by hand to the range of JavaScript. */
function bound(column: string): string {
  return `greatest(least(${column}, ${SEQ_MAX}), ${-SEQ_MAX})`;
}

/** Whether PostgreSQL cannot search a record: it is not JSON (class 22), or is nested too deeply (class 54). */
function isUnsearchable(error: unknown): boolean {
  return error instanceof StoreError && /^(22|54)/.test(readCode(error.cause) ?? '');
}

/**
 * Compares a row of the audit with the filters of a search, for stores that cannot do this in SQL. Pure. A record that
 * is not JSON matches no filter.
 */
function matchesFilters(
  { record }: Pick<AuditRow, 'record'>,
  { filters, exceptOutcomes }: Pick<AuditSearch, 'filters' | 'exceptOutcomes'>,
): boolean {
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined);
  if (wanted.length === 0 && exceptOutcomes === undefined) return true;
  try {
    const members: Record<string, unknown> = JSON.parse(record) ?? {};
    const { outcome } = members;
    const isExcepted =
      exceptOutcomes !== undefined && (typeof outcome !== 'string' || exceptOutcomes.includes(outcome));
    const { actor } = members;
    if (typeof actor === 'object' && actor !== null && 'id' in actor) members['actor'] = actor.id;
    return !isExcepted && wanted.every(([member, value]) => members[member] === value);
  } catch {
    return false;
  }
}

const CHECKS_MAX = 3;
const CHECK_RETRY_MS = 500;

/**
 * Makes a change in PostgreSQL and appends its audit record, both or neither. If the answer to the commit does not
 * arrive, it looks for the record, which shows whether both were committed.
 */
export async function transactWithAudit<Result>(
  database: Database,
  auditBatch: AuditBatch | undefined,
  work: (statements: Statements) => Promise<Result>,
  isDone: (result: Result) => boolean,
): Promise<Result> {
  let appended: { result: Result; end: AuditPosition } | undefined;
  try {
    return await database.transact(async (statements) => {
      const result = await work(statements);
      if (auditBatch !== undefined && isDone(result)) {
        appended = { result, end: await appendBatch(statements, auditBatch) };
      }
      return result;
    });
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError) || appended === undefined) throw error;
    if (await isCommitted(database, appended.end, error)) return appended.result;
    const reason = 'the connection broke off before the change was made.';
    throw new StoreError(`Nothing was changed: ${reason}`, { cause: error, reason });
  }
}

/** Whether the transaction was committed. Throws `error` if this cannot be determined. */
async function isCommitted(
  database: Database,
  end: AuditPosition,
  error: UnknownOutcomeError,
): Promise<boolean> {
  for (let checks = 1; ; checks++) {
    try {
      return await database.inspect((statements) => isAppended(statements, end));
    } catch {
      if (checks === CHECKS_MAX) throw error;
      await sleep(CHECK_RETRY_MS);
    }
  }
}
