/** Approvals of calls in a database. */
import type { ApprovalAnswer, ApprovalRow, ApprovalStore, ApprovalWithCall } from './ports/approvals.ts';
import { createParameters, isStorable } from './sql.ts';
import type { Databases, Statements } from './statements.ts';

const COLUMNS = `id, client, fingerprint, state, facts, created_at AS "createdAt", expires_at AS "expiresAt",
  decided_at AS "decidedAt", decided_by AS "decidedBy", reason, used_at AS "usedAt"`;

/** An arbitrary number that other programs on the database are unlikely to lock. */
const ASK_LOCK = 3_772_610_884_952;

/** Until the end of the transaction, no other request is stored. */
async function lockRequests(statements: Statements): Promise<void> {
  await statements.query(statements.dialect.lock(ASK_LOCK));
}

/** A decision and a claim must survive a power loss: a call could otherwise run twice, or after it was refused. */
export function createApprovals({ durable, quick }: Databases): ApprovalStore {
  const { isIn, skipLocked } = quick.dialect;

  return {
    async ask({ id, client, fingerprint, facts, call, createdAt, expiresAt }, { clientMax, totalMax }) {
      /** Null: the request can be stored. */
      async function check(from: Statements): Promise<ApprovalAnswer | null> {
        const [same] = await from.query<ApprovalRow>(
          `SELECT ${COLUMNS} FROM approvals
           WHERE client = $1 AND fingerprint = $2 AND state <> 'used' AND expires_at > $3`,
          [client, fingerprint, createdAt],
        );
        if (same !== undefined) return same;
        const [pending] = await from.query<{ total: number; ofClient: number }>(
          `SELECT count(*) AS total, count(*) FILTER (WHERE client = $1) AS "ofClient"
           FROM approvals WHERE state = 'pending' AND expires_at > $2`,
          [client, createdAt],
        );
        if ((pending?.ofClient ?? 0) >= clientMax) return 'client_full';
        return (pending?.total ?? 0) >= totalMax ? 'full' : null;
      }

      // A caller that repeats its call must not occupy connections that wait for the lock.
      const known = await check(quick);
      if (known !== null) return known;
      return quick.transact(async (statements): Promise<ApprovalAnswer> => {
        // New requests are rare and short. If they are stored one at a time, none is stored twice and the bounds are
        // exact.
        await lockRequests(statements);
        const stored = await check(statements);
        if (stored !== null) return stored;
        const [row] = await statements.query<ApprovalRow>(
          `INSERT INTO approvals (id, client, fingerprint, state, facts, call, created_at, expires_at)
           VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7) RETURNING ${COLUMNS}`,
          [id, client, fingerprint, facts, call, createdAt, expiresAt],
        );
        return row as ApprovalRow;
      });
    },
    async find(id) {
      if (!isStorable(id)) return null;
      const [row] = await quick.query<ApprovalWithCall>(
        `SELECT ${COLUMNS}, call FROM approvals WHERE id = $1`,
        [id],
      );
      return row ?? null;
    },
    findOf: (client, fingerprint, ids) =>
      quick.query<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approvals WHERE ${isIn('id', '$1')} AND client = $2 AND fingerprint = $3`,
        [ids.filter(isStorable), client, fingerprint],
        'find-approvals',
      ),
    list({ after, limit, state }) {
      const { values, place } = createParameters();
      const conditions = ['true'];
      if (after !== null)
        conditions.push(`(created_at, id) < (${place(after.createdAt)}, ${place(after.id)})`);
      if (state !== undefined) {
        conditions.push(`${place(state.is)} = CASE
          WHEN state IN ('pending', 'approved') AND expires_at <= ${place(state.now)} THEN 'expired'
          ELSE state END`);
      }
      return quick.query<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approvals WHERE ${conditions.join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT ${place(limit)}`,
        values,
      );
    },
    async decide(id, { state, by, reason, now, expiresAt }, auditBatch) {
      if (!isStorable(id)) return 'missing';
      const changed = await durable.transactWithAudit(
        auditBatch,
        (statements) =>
          statements.change(
            `UPDATE approvals
             SET state = $2, decided_at = $3, decided_by = $4, reason = $5, expires_at = coalesce($6, expires_at),
                 call = CASE $2 WHEN 'refused' THEN NULL ELSE call END
             WHERE id = $1 AND state = 'pending' AND expires_at > $3`,
            [id, state, now, by, reason, expiresAt],
          ),
        (count) => count > 0,
      );
      if (changed > 0) return 'done';
      const known = await quick.query('SELECT 1 FROM approvals WHERE id = $1', [id]);
      return known.length > 0 ? 'conflict' : 'missing';
    },
    async claim({ id, client, fingerprint, attempt, now }) {
      const changed = await durable.change(
        `UPDATE approvals SET state = 'used', used_at = $5, attempt = $4
         WHERE id = $1 AND client = $2 AND fingerprint = $3 AND state = 'approved' AND expires_at > $5`,
        [id, client, fingerprint, attempt, now],
      );
      return changed > 0;
    },
    async release(id, attempt) {
      await durable.transact(async (statements) => {
        // Without the lock, a request for the same call that is stored at the same moment would be missed.
        await lockRequests(statements);
        await statements.change(
          `UPDATE approvals AS released SET state = 'approved', used_at = NULL, attempt = NULL
           WHERE id = $1 AND state = 'used' AND attempt = $2 AND NOT EXISTS (
             SELECT 1 FROM approvals
             WHERE client = released.client AND fingerprint = released.fingerprint AND id <> released.id
               AND (created_at >= released.created_at OR state <> 'used' AND expires_at > released.created_at)
           )`,
          [id, attempt],
        );
      });
    },
    async prune(now, removeBefore, limit) {
      // Skips locked rows: replicas must not wait for each other.
      const pick = (condition: string) =>
        `SELECT id FROM approvals WHERE expires_at <= $1 ${condition} LIMIT $2 ${skipLocked}`;
      const cleared = await quick.change(
        `UPDATE approvals SET call = NULL WHERE id IN (${pick('AND call IS NOT NULL')})`,
        [now, limit],
      );
      const removed = await quick.change(`DELETE FROM approvals WHERE id IN (${pick('')})`, [
        removeBefore,
        limit,
      ]);
      return Math.max(cleared, removed);
    },
  };
}
