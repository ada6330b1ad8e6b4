/** Client keys in SQLite. Must not know when a key is valid. */
import type { DatabaseSync } from 'node:sqlite';
import type { Change, EndingKey, KeyName, KeyRecord, KeyStore, RotationResult, StoredKey } from '../ports.ts';
import { createActRunner } from './acts.ts';
import { createKeyList, RECORD_COLUMNS } from './key-list.ts';
import { transact } from './transaction.ts';

/** `onChange` is called after each change that watchers must learn of. */
export function createSqliteKeys(database: DatabaseSync, onChange: () => void): KeyStore {
  const insert = database.prepare(
    `INSERT INTO client_keys (id, client_id, name, policy, secret_hash, created_at, expires_at, revoked_at,
                              last_used_at, replaces, version)
     VALUES (:id, :clientId, :name, :policy, :secretHash, :createdAt, :expiresAt, :revokedAt, :lastUsedAt, :replaces, :version)`,
  );
  const findById = database.prepare(
    `SELECT ${RECORD_COLUMNS}, secret_hash AS secretHash FROM client_keys WHERE id = ?`,
  );
  const listNames = database.prepare(
    'SELECT id, name FROM client_keys WHERE id IN (SELECT value FROM json_each(?))',
  );
  const listEnding = database.prepare(
    `SELECT ${RECORD_COLUMNS}, EXISTS (SELECT 1 FROM client_keys AS others
         WHERE coalesce(others.client_id, others.id) = coalesce(client_keys.client_id, client_keys.id)
           AND others.revoked_at IS NULL AND (others.expires_at IS NULL OR others.expires_at > client_keys.expires_at)) AS isReplaced
     FROM client_keys WHERE revoked_at IS NULL AND expires_at >= ? AND expires_at < ?
     ORDER BY expires_at, id LIMIT ?`,
  );
  const hasAny = database.prepare('SELECT 1 FROM client_keys LIMIT 1');
  const update = database.prepare(
    `UPDATE client_keys SET name = ?1, policy = ?2, expires_at = ?3,
       version = version + ((name, policy, expires_at) IS NOT (?1, ?2, ?3))
     WHERE id = ?4 AND version = ?5`,
  );
  const revoke = database.prepare(
    'UPDATE client_keys SET revoked_at = ?, version = version + 1 WHERE id = ? AND revoked_at IS NULL',
  );
  const findSuccessor = database.prepare(
    `SELECT id FROM client_keys
     WHERE replaces = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) LIMIT 1`,
  );
  const touch = database.prepare(
    'UPDATE client_keys SET last_used_at = max(coalesce(last_used_at, ?1), ?1) WHERE id = ?2',
  );
  const insertHashSecret = database.prepare(
    "INSERT INTO secrets (name, value) VALUES ('key_hash', ?) ON CONFLICT DO NOTHING",
  );
  const readHashSecret = database.prepare("SELECT value FROM secrets WHERE name = 'key_hash'");

  const runWithAct = createActRunner(database);

  function find(id: string): StoredKey | null {
    return (findById.get(id) as StoredKey | undefined) ?? null;
  }

  function updateVersion(id: string, version: number, changes: Partial<KeyRecord>): Change {
    const key = find(id);
    if (key === null) return 'missing';
    const { name, policy, expiresAt } = { ...key, ...changes };
    return update.run(name, policy, expiresAt, id, version).changes === 0 ? 'conflict' : 'done';
  }

  return {
    insert(key, act) {
      runWithAct(
        act,
        () => insert.run({ ...key }),
        () => true,
      );
      onChange();
    },
    findById: find,
    list: createKeyList(database),
    listNames: (ids) => listNames.all(JSON.stringify(ids)) as unknown as KeyName[],
    listEnding(from, until, limit) {
      const rows = listEnding.all(from, until, limit) as unknown as EndingKey[];
      return rows.map((row) => ({ ...row, isReplaced: Boolean(row.isReplaced) }));
    },
    isEmpty() {
      return hasAny.get() === undefined;
    },
    update(id, version, changes, act) {
      const result = runWithAct(act, () => updateVersion(id, version, changes), isDone);
      if (result === 'done') onChange();
      return result;
    },
    revoke(id, revokedAt, act) {
      const changed = runWithAct(
        act,
        () => revoke.run(revokedAt, id).changes,
        (count) => count !== 0,
      );
      if (changed === 0) return find(id) !== null;
      onChange();
      return true;
    },
    rotate(id, version, { now, expiresAt, successor }, act) {
      const rotate = (): RotationResult => {
        const successorNow = find(id)?.version === version ? findSuccessor.get(id, now) : undefined;
        if (successorNow !== undefined) return { successorId: String(successorNow['id']) };
        const result = updateVersion(id, version, { expiresAt });
        if (result === 'done') insert.run({ ...successor });
        return result;
      };
      const result = runWithAct(act, rotate, isDone);
      if (result === 'done') onChange();
      return result;
    },
    touch(uses) {
      transact(database, () => {
        for (const [id, usedAt] of uses) touch.run(usedAt, id);
      });
    },
    getOrCreateHashSecret(candidate) {
      const kept = readHashSecret.get();
      if (kept) return kept['value'] as Uint8Array;
      insertHashSecret.run(candidate);
      return readHashSecret.get()?.['value'] as Uint8Array;
    },
  };
}

function isDone(result: RotationResult): boolean {
  return result === 'done';
}
