/** Client keys in a database. Must not know when a key is valid. */
import { changeVersion, isDone } from './change-version.ts';
import { createKeyList, RECORD_COLUMNS } from './key-list.ts';
import type { Change } from './ports/change.ts';
import type { EndingKey, KeyName, KeyRecord, KeyStore, RotationResult, StoredKey } from './ports/keys.ts';
import { createParameters, isStorable } from './sql.ts';
import type { Databases, Statements } from './statements.ts';
import { touchRows } from './touch-rows.ts';

export function createKeys({ durable }: Databases): KeyStore {
  const { isIn } = durable.dialect;
  return {
    async insert(key, auditBatch) {
      await durable.transactWithAudit(
        auditBatch,
        (statements) => insertKey(statements, key),
        () => true,
      );
    },
    async findById(id) {
      if (!isStorable(id)) return null;
      const [key] = await durable.query<StoredKey>(
        `SELECT ${RECORD_COLUMNS}, secret_hash AS "secretHash" FROM client_keys WHERE id = $1`,
        [id],
        'find-key',
      );
      return key ?? null;
    },
    list: createKeyList(durable),
    listNames: (ids) =>
      durable.query<KeyName>(`SELECT id, name FROM client_keys WHERE ${isIn('id', '$1')}`, [
        ids.filter(isStorable),
      ]),
    async listEnding(from, until, limit) {
      const rows = await durable.query<EndingKey>(
        `SELECT ${RECORD_COLUMNS}, EXISTS (SELECT 1 FROM client_keys AS others
           WHERE coalesce(others.client_id, others.id) = coalesce(client_keys.client_id, client_keys.id)
             AND others.revoked_at IS NULL
             AND (others.expires_at IS NULL OR others.expires_at > client_keys.expires_at)) AS "isReplaced"
         FROM client_keys WHERE revoked_at IS NULL AND expires_at >= $1 AND expires_at < $2
         ORDER BY expires_at, id LIMIT $3`,
        [from, until, limit],
      );
      return rows.map((row) => ({ ...row, isReplaced: Boolean(row.isReplaced) }));
    },
    async isEmpty() {
      const rows = await durable.query('SELECT 1 FROM client_keys LIMIT 1');
      return rows.length === 0;
    },
    update: (id, version, changes, auditBatch) =>
      durable.transactWithAudit(
        auditBatch,
        (statements) => updateKey(statements, id, version, changes),
        isDone,
      ),
    async revoke(id, revokedAt, auditBatch) {
      const changed = await durable.transactWithAudit(
        auditBatch,
        (statements) =>
          statements.change(
            'UPDATE client_keys SET revoked_at = $2, version = version + 1 WHERE id = $1 AND revoked_at IS NULL',
            [id, revokedAt],
          ),
        (count) => count > 0,
      );
      if (changed > 0) return true;
      const known = await durable.query('SELECT 1 FROM client_keys WHERE id = $1', [id]);
      return known.length > 0;
    },
    rotate: (id, version, { now, expiresAt, successor }, auditBatch) =>
      durable.transactWithAudit(
        auditBatch,
        async (statements): Promise<RotationResult> => {
          const successorNow = await findSuccessor(statements, id, version, now);
          if (successorNow !== null) return successorNow;
          const result = await updateKey(statements, id, version, { expiresAt });
          if (result === 'done') await insertKey(statements, successor);
          return result;
        },
        isDone,
      ),
    touch: (uses) => touchRows(durable, 'client_keys', uses),
    async getOrCreateHashSecret(candidate) {
      const read = () =>
        durable.query<{ value: Uint8Array }>("SELECT value FROM secrets WHERE name = 'key_hash'");
      const [kept] = await read();
      if (kept) return kept.value;
      await durable.change(
        "INSERT INTO secrets (name, value) VALUES ('key_hash', $1) ON CONFLICT DO NOTHING",
        [candidate],
      );
      const [first] = await read();
      return first?.value ?? candidate;
    },
  };
}

async function insertKey(statements: Statements, key: StoredKey): Promise<void> {
  await statements.change(
    `INSERT INTO client_keys (id, client_id, name, policy, secret_hash, created_at, created_by, expires_at, revoked_at,
                              last_used_at, replaces, version, person)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      key.id,
      key.clientId,
      key.name,
      key.policy,
      key.secretHash,
      key.createdAt,
      key.createdBy,
      key.expiresAt,
      key.revokedAt,
      key.lastUsedAt,
      key.replaces,
      key.version,
      key.person,
    ],
  );
}

async function updateKey(
  statements: Statements,
  id: string,
  version: number,
  { name, policy, expiresAt }: Partial<Pick<KeyRecord, 'name' | 'policy' | 'expiresAt'>>,
): Promise<Change> {
  const { values, place } = createParameters(id, version);
  const changed = Object.entries({ name, policy, expires_at: expiresAt })
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => ({ column, parameter: place(value) }));
  const isOther = changed.map(({ column, parameter }) => `${column} IS DISTINCT FROM ${parameter}`);
  const sets = [
    `version = version + CAST((${['false', ...isOther].join(' OR ')}) AS integer)`,
    ...changed.map(({ column, parameter }) => `${column} = ${parameter}`),
  ];
  return await changeVersion(
    statements,
    'client_keys',
    `UPDATE client_keys SET ${sets.join(', ')} WHERE id = $1 AND version = $2`,
    values,
  );
}

/** Locks the row of the key, so that simultaneous rotations see each other's successor. */
async function findSuccessor(statements: Statements, id: string, version: number, now: number) {
  const rows = await statements.query(
    `SELECT 1 FROM client_keys WHERE id = $1 AND version = $2 ${statements.dialect.forUpdate}`,
    [id, version],
  );
  if (rows.length === 0) return null;
  const [successorNow] = await statements.query<{ successorId: string }>(
    `SELECT id AS "successorId" FROM client_keys
     WHERE replaces = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) LIMIT 1`,
    [id, now],
  );
  return successorNow ?? null;
}
