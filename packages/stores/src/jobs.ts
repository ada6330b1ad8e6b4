/** Jobs in a database. What tells whether a job may run again must survive a power loss: it could run twice. */
import type { FullJobs, JobRow, JobStore } from './ports/jobs.ts';
import { createParameters, isStorable } from './sql.ts';
import type { Databases, Statements } from './statements.ts';

const COLUMNS = `id, client, key_id AS key, route, request_id AS "requestId", facts, secret, fingerprint, state,
  body_parts AS "bodyParts", attempt, is_cancelled AS "isCancelled", records, bytes, parts, status, headers,
  created_at AS "createdAt", started_at AS "startedAt", ended_at AS "endedAt"`;
/** The attempt has the job. */
const IS_RUNNING = "id = $1 AND attempt = $2 AND state = 'running'";
/** An arbitrary number that other programs on the database are unlikely to lock. */
const ADD_LOCK = 3_772_610_884_953;
/** Parts that one statement removes: some 16 MiB. */
const DROPPED_MAX = 64;
const BODY = '';

export function createJobs({ durable, quick }: Databases): JobStore {
  const { isIn, now, nowPlus, skipLocked } = quick.dialect;
  /** Sets the end of a job, if the condition holds. The placeholders have an {@link EndTime}. */
  const setEnd = (condition: string, at: string, keepMs: string) =>
    `ended_at = CASE WHEN ${condition} THEN CAST(${at} AS bigint) END,
     expires_at = CASE WHEN ${condition} THEN ${nowPlus(keepMs)} END`;

  async function find(from: Statements, condition: string, value: string): Promise<JobRow | null> {
    if (!isStorable(value)) return null;
    const [row] = await from.query<JobRow>(`SELECT ${COLUMNS} FROM jobs WHERE ${condition} = $1`, [value]);
    return row === undefined ? null : readRow(row);
  }

  async function dropParts(id: string, kept: readonly string[], limit: number): Promise<number> {
    const others = `job = $1 AND NOT (${isIn('attempt', '$2')})`;
    return await quick.change(
      `DELETE FROM job_parts WHERE ${others} AND (attempt, number) IN (
         SELECT attempt, number FROM job_parts WHERE ${others} LIMIT $3
       )`,
      [id, kept, limit],
    );
  }

  return {
    async add({ body, name, ...job }, bounds) {
      const check = async (from: Statements): Promise<JobRow | FullJobs | null> => {
        const known = name === null ? null : await find(from, 'name', name);
        if (known !== null) return known;
        const [counted] = await from.query<{ ofClient: number; waiting: number; bytes: number }>(
          `SELECT (SELECT count(*) FROM jobs WHERE client = $1) AS "ofClient",
             (SELECT count(*) FROM jobs WHERE ended_at IS NULL) AS waiting,
             (SELECT coalesce(sum(bytes + body_bytes), 0) FROM jobs) AS bytes`,
          [job.client],
        );
        const { ofClient, waiting, bytes } = counted!;
        if (Number(ofClient) >= bounds.clientMax) return 'client_full';
        if (Number(waiting) >= bounds.waitingMax) return 'full';
        return Number(bytes) >= bounds.bytesMax ? 'bytes_full' : null;
      };
      // A caller beyond its bound must not occupy connections that wait for the lock.
      const refused = await check(quick);
      if (refused !== null) return refused;
      return durable.transact(async (statements) => {
        // One at a time, so that no name is given twice and the bounds are exact.
        await statements.query(statements.dialect.lock(ADD_LOCK));
        const known = await check(statements);
        if (known !== null) return known;
        const bodyBytes = body.reduce((sum, { length }) => sum + length, 0);
        const [row] = await statements.query<JobRow>(
          `INSERT INTO jobs (id, client, key_id, route, request_id, facts, secret, name, fingerprint, state,
             body_parts, body_bytes, created_at, callback, available_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', $10, $11, $12, $13, ${now}) RETURNING ${COLUMNS}`,
          [
            job.id,
            job.client,
            job.key,
            job.route,
            job.requestId,
            job.facts,
            job.secret,
            name,
            job.fingerprint,
            body.length,
            bodyBytes,
            job.createdAt,
            job.callback,
          ],
        );
        for (const [number, bytes] of body.entries())
          await insertPart(statements, job.id, BODY, number, bytes);
        return readRow(row!);
      });
    },
    find: (id) => find(quick, 'id', id),
    async list({ after, limit, state, client }) {
      const { values, place } = createParameters();
      const conditions = ['true'];
      if (after !== null)
        conditions.push(`(created_at, id) < (${place(after.createdAt)}, ${place(after.id)})`);
      if (state !== undefined) conditions.push(`state = ${place(state)}`);
      if (client !== undefined) conditions.push(`client = ${place(client)}`);
      const rows = await quick.query<JobRow>(
        `SELECT ${COLUMNS} FROM jobs WHERE ${conditions.join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT ${place(limit)}`,
        values,
      );
      return rows.map(readRow);
    },
    async listUnreported(callback, limit) {
      const rows = await quick.query<JobRow>(
        `SELECT ${COLUMNS} FROM jobs WHERE callback = $1 AND ended_at IS NOT NULL ORDER BY id LIMIT $2`,
        [callback, limit],
        'list-unreported-jobs',
      );
      return rows.map(readRow);
    },
    async look() {
      const [found] = await quick.query<{ isDue: unknown; isLost: unknown }>(
        `SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND available_at <= ${now}) AS "isDue",
           EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND lease_until <= ${now}) AS "isLost"`,
        [],
        'look-for-jobs',
      );
      return { isDue: Boolean(found?.isDue), isLost: Boolean(found?.isLost) };
    },
    async claim(attempt, leaseMs, clientMax, at) {
      const [row] = await durable.query<JobRow>(
        `UPDATE jobs SET state = 'running', attempt = $1, lease_until = ${nowPlus('$2')}, is_sent = false,
           started_at = coalesce(started_at, $4), records = NULL, bytes = 0, parts = 0
         WHERE id IN (
           SELECT id FROM jobs AS waiting WHERE state = 'queued' AND available_at <= ${now} AND (
             SELECT count(*) FROM jobs AS busy WHERE busy.state = 'running' AND busy.client = waiting.client
           ) < $3 ORDER BY available_at, id LIMIT 1 ${skipLocked}
         ) RETURNING ${COLUMNS}`,
        [attempt, leaseMs, clientMax, at],
      );
      return row === undefined ? null : readRow(row);
    },
    async renew(id, attempt, leaseMs, { records, bytes }) {
      const [row] = await quick.query<{ isCancelled: unknown }>(
        `UPDATE jobs SET lease_until = ${nowPlus('$3')}, records = $4, bytes = $5
         WHERE ${IS_RUNNING} RETURNING is_cancelled AS "isCancelled"`,
        [id, attempt, leaseMs, records, bytes],
      );
      if (row === undefined) return null;
      const [sum] = await quick.query<{ bytes: number }>(
        'SELECT coalesce(sum(bytes + body_bytes), 0) AS bytes FROM jobs',
      );
      return { isCancelled: Boolean(row.isCancelled), bytes: Number(sum?.bytes ?? 0) };
    },
    async markSent(id, attempt) {
      const changed = await durable.change(
        `UPDATE jobs SET is_sent = true WHERE ${IS_RUNNING} AND NOT is_cancelled AND lease_until > ${now}`,
        [id, attempt],
      );
      return changed > 0;
    },
    async markUnsent(id, attempt) {
      await durable.change(`UPDATE jobs SET is_sent = false WHERE ${IS_RUNNING}`, [id, attempt]);
    },
    async end(id, attempt, { state, status, headers, parts, records, bytes }, time) {
      const changed = await durable.change(
        `UPDATE jobs SET state = $3, status = $4, headers = $5, parts = $6, records = $7, bytes = $8,
           lease_until = NULL, ${setEnd('true', '$9', '$10')} WHERE ${IS_RUNNING}`,
        [id, attempt, state, status, headers, parts, records, bytes, time.now, time.keepMs],
      );
      return changed > 0;
    },
    async release(id, attempt, waitMs, time) {
      const changed = await durable.change(
        `UPDATE jobs SET state = CASE WHEN is_cancelled THEN 'cancelled' ELSE 'queued' END, lease_until = NULL,
           is_sent = false, available_at = ${nowPlus('$3')}, records = NULL, bytes = 0, ${setEnd('is_cancelled', '$4', '$5')}
         WHERE ${IS_RUNNING}`,
        [id, attempt, waitMs, time.now, time.keepMs],
      );
      return changed > 0;
    },
    recover({ leaseMs, lostMax, now: at, keepMs }) {
      // A write that was sent may have run. Others wait longer each time: one of them may end the processes.
      const isEnded = '(is_sent OR is_cancelled OR lost + 1 >= $2)';
      return durable.change(
        `UPDATE jobs SET state = CASE WHEN is_sent THEN 'unknown' WHEN is_cancelled THEN 'cancelled'
             WHEN lost + 1 >= $2 THEN 'failed' ELSE 'queued' END,
           lease_until = NULL, lost = lost + 1, available_at = ${nowPlus('1000 * lost')}, records = NULL, bytes = 0,
           ${setEnd(isEnded, '$3', '$4')}
         WHERE state = 'running' AND (lease_until <= ${now} OR lease_until > ${nowPlus('$1')})`,
        [leaseMs, lostMax, at, keepMs],
      );
    },
    async cancel(id, client, time, audit) {
      if (!isStorable(id)) return null;
      const cancelled = await durable.transactWithAudit(
        audit,
        async (statements) => {
          const changed = await statements.change(
            `UPDATE jobs SET is_cancelled = true,
               state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END,
               ${setEnd("state = 'queued'", '$3', '$4')}
             WHERE id = $1 AND client = coalesce($2, client) AND state IN ('queued', 'running')`,
            [id, client, time.now, time.keepMs],
          );
          return changed > 0;
        },
        (isDone) => isDone,
      );
      const row = await find(quick, 'id', id);
      return cancelled || row?.client === client || client === null ? row : null;
    },
    async addPart(id, attempt, number, bytes) {
      await insertPart(quick, id, attempt, number, bytes);
    },
    async readPart(id, attempt, number) {
      const [row] = await quick.query<{ bytes: Uint8Array }>(
        'SELECT bytes FROM job_parts WHERE job = $1 AND attempt = $2 AND number = $3',
        [id, attempt, number],
        'read-job-part',
      );
      return row?.bytes ?? null;
    },
    dropParts,
    async prune() {
      const [row] = await quick.query<{ id: string }>(
        `SELECT id FROM jobs WHERE expires_at <= ${now} LIMIT 1`,
      );
      if (row === undefined) return false;
      if ((await dropParts(row.id, [], DROPPED_MAX)) < DROPPED_MAX)
        await quick.change(`DELETE FROM jobs WHERE id = $1 AND expires_at <= ${now}`, [row.id]);
      return true;
    },
    async count() {
      const [row] = await quick.query<{ queued: number; running: number; bytes: number }>(
        `SELECT (SELECT count(*) FROM jobs WHERE state = 'queued') AS queued,
           (SELECT count(*) FROM jobs WHERE state = 'running') AS running,
           (SELECT coalesce(sum(bytes + body_bytes), 0) FROM jobs) AS bytes`,
      );
      return {
        queued: Number(row?.queued ?? 0),
        running: Number(row?.running ?? 0),
        bytes: Number(row?.bytes ?? 0),
      };
    },
  };
}

async function insertPart(
  statements: Statements,
  id: string,
  attempt: string,
  number: number,
  bytes: Uint8Array,
): Promise<void> {
  await statements.change('INSERT INTO job_parts (job, attempt, number, bytes) VALUES ($1, $2, $3, $4)', [
    id,
    attempt,
    number,
    bytes,
  ]);
}

/** SQLite has no booleans. */
function readRow(row: JobRow): JobRow {
  return { ...row, isCancelled: Boolean(row.isCancelled) };
}
