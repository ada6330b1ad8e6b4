/** Idempotency keys in SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import type { IdempotencyRow, IdempotencyStore, IdempotencyUse } from '../ports.ts';

export interface IdempotencyConnections {
  /** Commits on this connection survive a power loss. */
  durable: DatabaseSync;
  /** A power loss may take the last commits on this connection. */
  quick: DatabaseSync;
}

/**
 * Longer than any attempt runs. One that would run longer is from before the clock was set back: its process may have
 * died since.
 */
const RUNS_MS_MAX = 600_000;

/**
 * A claim must survive a power loss, or a call could be sent twice. If a completion is lost, the claim remains and its
 * outcome is unknown. `clock`: of the machine that all processes share, in milliseconds.
 */
export function createSqliteIdempotency(
  { durable, quick }: IdempotencyConnections,
  clock: () => number,
): IdempotencyStore {
  const read = quick.prepare(
    `SELECT fingerprint, answer,
            CASE WHEN is_done THEN 'done'
              WHEN runs_until > :now AND runs_until < :now + ${RUNS_MS_MAX} THEN 'running'
              ELSE 'outcome_unknown' END AS state
     FROM idempotency_keys WHERE id = :id AND expires_at > :now`,
  );
  const insert = durable.prepare(
    `INSERT INTO idempotency_keys (id, client, fingerprint, attempt, runs_until, expires_at)
     VALUES (:id, :client, :fingerprint, :attempt, :now + :runsForMs, :now + :expiresInMs)
     ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, attempt = excluded.attempt,
       runs_until = excluded.runs_until, expires_at = excluded.expires_at, is_done = 0, answer = NULL, answer_bytes = 0
     WHERE expires_at <= :now`,
  );
  const isRunning = 'id = :id AND attempt = :attempt AND NOT is_done';
  const extend = quick.prepare(`UPDATE idempotency_keys SET runs_until = :runsUntil WHERE ${isRunning}`);
  const complete = quick.prepare(
    `UPDATE idempotency_keys
     SET is_done = 1, answer = :answer, answer_bytes = coalesce(length(:answer), 0), expires_at = :expiresAt
     WHERE ${isRunning}`,
  );
  const markUnknown = quick.prepare(`UPDATE idempotency_keys SET runs_until = 0 WHERE ${isRunning}`);
  const release = quick.prepare(`DELETE FROM idempotency_keys WHERE ${isRunning}`);
  const measure = quick.prepare(
    'SELECT count(*) AS keys, total(answer_bytes) AS answerBytes FROM idempotency_keys WHERE client = ?',
  );
  const prune = quick.prepare(
    'DELETE FROM idempotency_keys WHERE id IN (SELECT id FROM idempotency_keys WHERE expires_at <= ? LIMIT ?)',
  );
  const find = (id: string) => (read.get({ id, now: clock() }) ?? null) as IdempotencyRow | null;

  return {
    find,
    claim(claim) {
      for (;;) {
        if (insert.run({ ...claim, now: clock() }).changes > 0) return null;
        const row = find(claim.id);
        // Null: it was released or expired in between, and can be claimed.
        if (row !== null) return row;
      }
    },
    extend(id, attempt, runsForMs) {
      extend.run({ id, attempt, runsUntil: clock() + runsForMs });
    },
    complete(id, attempt, answer, expiresInMs) {
      complete.run({ id, attempt, answer, expiresAt: clock() + expiresInMs });
    },
    markUnknown(id, attempt) {
      markUnknown.run({ id, attempt });
    },
    release(id, attempt) {
      release.run({ id, attempt });
    },
    measure(client) {
      return { ...measure.get(client) } as unknown as IdempotencyUse;
    },
    prune(limit) {
      return Number(prune.run(clock(), limit).changes);
    },
  };
}
