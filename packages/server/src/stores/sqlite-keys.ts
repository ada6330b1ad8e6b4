/** Client keys in SQLite. Must not know what a key means or when it is valid. */
import type { DatabaseSync } from 'node:sqlite';
import type { KeyRecord, KeyStore, StoredKey } from './ports.ts';
import { transact } from './sqlite-transaction.ts';

const RECORD_COLUMNS = `id, name, policy, created_at AS createdAt, expires_at AS expiresAt,
  revoked_at AS revokedAt, last_used_at AS lastUsedAt, replaces, version`;

/** `onChange` is called after each change that watchers are to be told of. */
export function createSqliteKeys(database: DatabaseSync, onChange: () => void): KeyStore {
  const insert = database.prepare(
    `INSERT INTO client_keys (id, name, policy, secret_hash, created_at, expires_at, revoked_at, last_used_at,
                              replaces, version)
     VALUES (:id, :name, :policy, :secretHash, :createdAt, :expiresAt, :revokedAt, :lastUsedAt, :replaces, :version)`,
  );
  const findById = database.prepare(
    `SELECT ${RECORD_COLUMNS}, secret_hash AS secretHash FROM client_keys WHERE id = ?`,
  );
  const listAll = database.prepare(selectPage('TRUE'));
  const listNamed = database.prepare(selectPage('name = :name'));
  const hasAny = database.prepare('SELECT 1 FROM client_keys LIMIT 1');
  const update = database.prepare(
    `UPDATE client_keys SET name = ?1, policy = ?2, expires_at = ?3,
       version = version + ((name, policy, expires_at) IS NOT (?1, ?2, ?3))
     WHERE id = ?4 AND version = ?5`,
  );
  const revoke = database.prepare(
    'UPDATE client_keys SET revoked_at = ?, version = version + 1 WHERE id = ? AND revoked_at IS NULL',
  );
  const touch = database.prepare(
    'UPDATE client_keys SET last_used_at = max(coalesce(last_used_at, ?1), ?1) WHERE id = ?2',
  );
  const keepHashSecret = database.prepare(
    "INSERT INTO secrets (name, value) VALUES ('key_hash', ?) ON CONFLICT DO NOTHING",
  );
  const readHashSecret = database.prepare("SELECT value FROM secrets WHERE name = 'key_hash'");

  function find(id: string): StoredKey | null {
    return (findById.get(id) as StoredKey | undefined) ?? null;
  }

  return {
    insert(key) {
      insert.run({ ...key });
      onChange();
    },
    findById: find,
    list({ after, limit, state, search = '', name }) {
      const values = {
        createdAt: after?.createdAt ?? Number.MIN_SAFE_INTEGER,
        id: after?.id ?? '',
        state: state?.is ?? null,
        now: state?.now ?? null,
        search,
        limit,
      };
      const rows = name === undefined ? listAll.all(values) : listNamed.all({ ...values, name });
      return rows as unknown as KeyRecord[];
    },
    isEmpty() {
      return hasAny.get() === undefined;
    },
    update(id, version, changes) {
      const key = find(id);
      if (key === null) return 'missing';
      const { name, policy, expiresAt } = { ...key, ...changes };
      // The version of the key that was read may be past by now: the statement looks at it once more.
      if (update.run(name, policy, expiresAt, id, version).changes === 0) return 'conflict';
      onChange();
      return 'done';
    },
    revoke(id, revokedAt) {
      if (revoke.run(revokedAt, id).changes === 0) return find(id) !== null;
      onChange();
      return true;
    },
    touch(uses) {
      transact(database, () => {
        for (const [id, usedAt] of uses) touch.run(usedAt, id);
      });
    },
    getOrCreateHashSecret(candidate) {
      const kept = readHashSecret.get();
      if (kept) return kept['value'] as Uint8Array;
      keepHashSecret.run(candidate);
      return readHashSecret.get()?.['value'] as Uint8Array;
    },
  };
}

/**
 * A page costs the same at any place of any number of keys; with a search or a state it may have to pass over all that
 * do not match.
 */
function selectPage(condition: string): string {
  return `SELECT ${RECORD_COLUMNS} FROM client_keys
    WHERE ${condition} AND (created_at, id) > (:createdAt, :id)
      AND (instr(lower(id), lower(:search)) OR instr(lower(name), lower(:search)))
      AND (:state IS NULL OR :state = CASE
        WHEN revoked_at IS NOT NULL THEN 'revoked'
        WHEN expires_at <= :now THEN 'expired'
        ELSE 'active' END)
    ORDER BY created_at, id LIMIT :limit`;
}
