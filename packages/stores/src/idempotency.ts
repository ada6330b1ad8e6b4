/**
 * Idempotency keys in a database. A claim must survive a power loss, or a call could be sent twice. If a completion is
 * lost, the claim remains and its outcome is unknown.
 */
import type { IdempotencyRow, IdempotencyStore, IdempotencyUse } from './ports/idempotency.ts';
import type { Databases } from './statements.ts';

const IS_RUNNING = 'id = $1 AND attempt = $2 AND NOT is_done';

/**
 * Longer than any attempt runs. A claim with a later end was made before the clock was set back, and its process may
 * have died since.
 */
const RUNS_MS_MAX = 600_000;

export function createIdempotency({ durable, quick }: Databases): IdempotencyStore {
  const { longAgo, now, nowPlus, skipLocked } = quick.dialect;

  async function find(id: string): Promise<IdempotencyRow | null> {
    const [row] = await quick.query<IdempotencyRow>(
      `SELECT fingerprint, answer,
              CASE WHEN is_done THEN 'done' WHEN runs_until > ${now} AND runs_until < ${nowPlus(`${RUNS_MS_MAX}`)} THEN 'running'
                ELSE 'outcome_unknown' END AS state
       FROM idempotency_keys WHERE id = $1 AND expires_at > ${now}`,
      [id],
      'find-idempotency-key',
    );
    return row ?? null;
  }

  return {
    find,
    async claim({ id, client, fingerprint, attempt, runsForMs, expiresInMs }) {
      for (;;) {
        const claimed = await durable.query(
          `INSERT INTO idempotency_keys AS existing (id, client, fingerprint, attempt, runs_until, expires_at)
           VALUES ($1, $2, $3, $4, ${nowPlus('$5')}, ${nowPlus('$6')})
           ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, attempt = excluded.attempt,
             runs_until = excluded.runs_until, expires_at = excluded.expires_at, is_done = false, answer = NULL,
             answer_bytes = 0
           WHERE existing.expires_at <= ${now} RETURNING id`,
          [id, client, fingerprint, attempt, runsForMs, expiresInMs],
          'claim-idempotency-key',
        );
        if (claimed.length > 0) return null;
        const row = await find(id);
        // Null: the key was released or has expired in between, and can be claimed.
        if (row !== null) return row;
      }
    },
    async extend(id, attempt, runsForMs) {
      await quick.change(`UPDATE idempotency_keys SET runs_until = ${nowPlus('$3')} WHERE ${IS_RUNNING}`, [
        id,
        attempt,
        runsForMs,
      ]);
    },
    async complete(id, attempt, answer, expiresInMs) {
      await quick.change(
        `UPDATE idempotency_keys
         SET is_done = true, answer = $3, answer_bytes = $4, expires_at = ${nowPlus('$5')} WHERE ${IS_RUNNING}`,
        [id, attempt, answer, answer?.length ?? 0, expiresInMs],
      );
    },
    async markUnknown(id, attempt) {
      await quick.change(`UPDATE idempotency_keys SET runs_until = ${longAgo} WHERE ${IS_RUNNING}`, [
        id,
        attempt,
      ]);
    },
    async release(id, attempt) {
      await quick.change(`DELETE FROM idempotency_keys WHERE ${IS_RUNNING}`, [id, attempt]);
    },
    async measure(client) {
      const [use] = await quick.query<IdempotencyUse>(
        `SELECT count(*) AS keys, coalesce(sum(answer_bytes), 0) AS "answerBytes"
         FROM idempotency_keys WHERE client = $1`,
        [client],
        'measure-idempotency-keys',
      );
      return use ?? { keys: 0, answerBytes: 0 };
    },
    async prune(limit) {
      // Locks the rows that it finds: rows that are claimed in between must stay, and replicas must not wait for each
      // other.
      return await quick.change(
        `DELETE FROM idempotency_keys WHERE id IN (
           SELECT id FROM idempotency_keys WHERE expires_at <= ${now} LIMIT $1 ${skipLocked}
         )`,
        [limit],
      );
    },
  };
}
