/** Approvals of calls in SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import type { ApprovalRow, ApprovalStore, ApprovalWithCall } from '../ports.ts';
import { createActRunner } from './acts.ts';
import { transact } from './transaction.ts';

export interface ApprovalConnections {
  /** Commits on this connection survive a power loss. */
  durable: DatabaseSync;
  /** A power loss may take the last commits on this connection. */
  quick: DatabaseSync;
}

const COLUMNS = `id, client, fingerprint, state, facts, created_at AS createdAt, expires_at AS expiresAt,
  decided_at AS decidedAt, decided_by AS decidedBy, reason, used_at AS usedAt`;

/** A decision and a claim must survive a power loss: a call could otherwise run twice, or after it was refused. */
export function createSqliteApprovals({ durable, quick }: ApprovalConnections): ApprovalStore {
  const findOpen = quick.prepare(
    `SELECT ${COLUMNS} FROM approvals
     WHERE client = :client AND fingerprint = :fingerprint AND state <> 'used' AND expires_at > :now`,
  );
  const count = quick.prepare(
    `SELECT count(*) AS total, count(*) FILTER (WHERE client = :client) AS ofClient
     FROM approvals WHERE state = 'pending' AND expires_at > :now`,
  );
  const insert = quick.prepare(
    `INSERT INTO approvals (id, client, fingerprint, state, facts, call, created_at, expires_at)
     VALUES (:id, :client, :fingerprint, 'pending', :facts, :call, :createdAt, :expiresAt)
     RETURNING ${COLUMNS}`,
  );
  const read = quick.prepare(`SELECT ${COLUMNS}, call FROM approvals WHERE id = ?`);
  const readOf = quick.prepare(
    `SELECT ${COLUMNS} FROM approvals
     WHERE id IN (SELECT value FROM json_each(:ids)) AND client = :client AND fingerprint = :fingerprint`,
  );
  const list = quick.prepare(
    `SELECT ${COLUMNS} FROM approvals
     WHERE (:afterId IS NULL OR (created_at, id) < (:afterCreatedAt, :afterId))
       AND (:state IS NULL OR :state = CASE
         WHEN state IN ('pending', 'approved') AND expires_at <= :now THEN 'expired'
         ELSE state END)
     ORDER BY created_at DESC, id DESC LIMIT :limit`,
  );
  const decide = durable.prepare(
    `UPDATE approvals
     SET state = :state, decided_at = :now, decided_by = :by, reason = :reason,
         expires_at = coalesce(:expiresAt, expires_at),
         call = CASE :state WHEN 'refused' THEN NULL ELSE call END
     WHERE id = :id AND state = 'pending' AND expires_at > :now`,
  );
  const claim = durable.prepare(
    `UPDATE approvals SET state = 'used', used_at = :now, attempt = :attempt
     WHERE id = :id AND client = :client AND fingerprint = :fingerprint AND state = 'approved' AND expires_at > :now`,
  );
  const release = durable.prepare(
    `UPDATE approvals AS released SET state = 'approved', used_at = NULL, attempt = NULL
     WHERE id = ? AND state = 'used' AND attempt = ? AND NOT EXISTS (
       SELECT 1 FROM approvals
       WHERE client = released.client AND fingerprint = released.fingerprint AND id <> released.id
         AND (created_at >= released.created_at OR state <> 'used' AND expires_at > released.created_at)
     )`,
  );
  const clear = quick.prepare(
    `UPDATE approvals SET call = NULL WHERE id IN (
       SELECT id FROM approvals WHERE expires_at <= ? AND call IS NOT NULL LIMIT ?
     )`,
  );
  const remove = quick.prepare(
    'DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE expires_at <= ? LIMIT ?)',
  );
  const runWithAct = createActRunner(durable);

  return {
    ask({ id, client, fingerprint, facts, call, createdAt, expiresAt }, { clientMax, totalMax }) {
      return transact(quick, () => {
        const now = createdAt;
        const same = findOpen.get({ client, fingerprint, now });
        if (same !== undefined) return same as unknown as ApprovalRow;
        const pending = count.get({ client, now });
        if (Number(pending?.['ofClient']) >= clientMax) return 'client_full';
        if (Number(pending?.['total']) >= totalMax) return 'full';
        return insert.get({
          id,
          client,
          fingerprint,
          facts,
          call,
          createdAt,
          expiresAt,
        }) as unknown as ApprovalRow;
      });
    },
    find(id) {
      return (read.get(id) ?? null) as ApprovalWithCall | null;
    },
    findOf(client, fingerprint, ids) {
      return readOf.all({ client, fingerprint, ids: JSON.stringify(ids) }) as unknown as ApprovalRow[];
    },
    list({ after, limit, state }) {
      return list.all({
        afterCreatedAt: after?.createdAt ?? null,
        afterId: after?.id ?? null,
        state: state?.is ?? null,
        now: state?.now ?? null,
        limit,
      }) as unknown as ApprovalRow[];
    },
    decide(id, decision, act) {
      const changed = runWithAct(
        act,
        () => decide.run({ id, ...decision }).changes,
        (changes) => changes > 0,
      );
      if (changed > 0) return 'done';
      return read.get(id) === undefined ? 'missing' : 'conflict';
    },
    claim(given) {
      return claim.run({ ...given }).changes > 0;
    },
    release(id, attempt) {
      release.run(id, attempt);
    },
    prune(now, removeBefore, limit) {
      const cleared = Number(clear.run(now, limit).changes);
      return Math.max(cleared, Number(remove.run(removeBefore, limit).changes));
    },
  };
}
