/** Client keys in PostgreSQL. Must not know when a key is valid. */
import type {
  Change,
  EndingKey,
  KeyListQuery,
  KeyName,
  KeyRecord,
  KeyStore,
  RotationResult,
  StoredKey,
} from '../ports.ts';
import { createParameters, isStorable } from '../sql.ts';
import type { Dialect, Statements } from '../statements.ts';
import { runWithAct, transactWithAct } from './acts.ts';
import { changeVersion } from './change-version.ts';
import type { Database } from './statements.ts';

/** A replica of an earlier release inserts no client. */
const RECORD_COLUMNS = `id, coalesce(client_id, id) AS "clientId", name, policy, created_at AS "createdAt", expires_at AS "expiresAt",
  revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", replaces, version`;

export function createPostgresKeys(database: Database): KeyStore {
  return {
    async insert(key, act) {
      await runWithAct(database, {
        act,
        change: (statements) => insertKey(statements, key),
        isDone: () => true,
      });
    },
    async findById(id) {
      if (!isStorable(id)) return null;
      const [key] = await database.query<StoredKey>(
        `SELECT ${RECORD_COLUMNS}, secret_hash AS "secretHash" FROM client_keys WHERE id = $1`,
        [id],
        'find-key',
      );
      return key ?? null;
    },
    async list(query) {
      if (!isStorable(query.name ?? '') || !isStorable(query.search ?? '')) return [];
      const { values, place } = createParameters();
      const conditions = listConditions(query, place, database.dialect.contains);
      return await database.query<KeyRecord>(
        `SELECT ${RECORD_COLUMNS} FROM client_keys WHERE ${conditions.join(' AND ')}
         ORDER BY created_at, id LIMIT ${place(query.limit)}`,
        values,
      );
    },
    async listNames(ids) {
      return await database.query<KeyName>('SELECT id, name FROM client_keys WHERE id = ANY($1::text[])', [
        ids.filter(isStorable),
      ]);
    },
    async listEnding(from, until, limit) {
      return await database.query<EndingKey>(
        `SELECT ${RECORD_COLUMNS}, EXISTS (SELECT 1 FROM client_keys AS others
         WHERE coalesce(others.client_id, others.id) = coalesce(client_keys.client_id, client_keys.id)
           AND others.revoked_at IS NULL AND (others.expires_at IS NULL OR others.expires_at > client_keys.expires_at)) AS "isReplaced"
         FROM client_keys WHERE revoked_at IS NULL AND expires_at >= $1 AND expires_at < $2
         ORDER BY expires_at, id LIMIT $3`,
        [from, until, limit],
      );
    },
    async isEmpty() {
      const rows = await database.query('SELECT 1 FROM client_keys LIMIT 1');
      return rows.length === 0;
    },
    async update(id, version, changes, act) {
      return await runWithAct(database, {
        act,
        change: (statements) => updateKey(statements, id, version, changes),
        isDone,
      });
    },
    async revoke(id, revokedAt, act) {
      const { isKnown } = await runWithAct(database, {
        act,
        change: (statements) => revokeKey(statements, id, revokedAt),
        isDone: ({ isChanged }) => isChanged,
      });
      return isKnown;
    },
    async rotate(id, version, { now, expiresAt, successor }, act) {
      const change = async (statements: Statements): Promise<RotationResult> => {
        const successorNow = await findSuccessor(statements, id, version, now);
        if (successorNow !== null) return successorNow;
        const result = await updateKey(statements, id, version, { expiresAt });
        if (result === 'done') await insertKey(statements, successor);
        return result;
      };
      return await transactWithAct(database, act, change, isDone);
    },
    async touch(uses) {
      // Locks the rows in one order, so that two replicas cannot deadlock.
      await database.change(
        `WITH touched AS (
           SELECT id, used.at FROM client_keys JOIN unnest($1::text[], $2::bigint[]) AS used (id, at) USING (id)
           WHERE last_used_at IS NULL OR last_used_at < used.at
           ORDER BY id FOR NO KEY UPDATE OF client_keys
         )
         UPDATE client_keys SET last_used_at = touched.at FROM touched WHERE client_keys.id = touched.id`,
        [[...uses.keys()], [...uses.values()]],
      );
    },
    async getOrCreateHashSecret(candidate) {
      const read = () =>
        database.query<{ value: Uint8Array }>("SELECT value FROM secrets WHERE name = 'key_hash'");
      const [kept] = await read();
      if (kept) return kept.value;
      await database.change(
        "INSERT INTO secrets (name, value) VALUES ('key_hash', $1) ON CONFLICT DO NOTHING",
        [candidate],
      );
      const [first] = await read();
      return first?.value ?? candidate;
    },
  };
}

function isDone(result: RotationResult): boolean {
  return result === 'done';
}

async function insertKey(statements: Statements, key: StoredKey): Promise<void> {
  await statements.change(
    `INSERT INTO client_keys (id, client_id, name, policy, secret_hash, created_at, expires_at, revoked_at,
                              last_used_at, replaces, version)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      key.id,
      key.clientId,
      key.name,
      key.policy,
      key.secretHash,
      key.createdAt,
      key.expiresAt,
      key.revokedAt,
      key.lastUsedAt,
      key.replaces,
      key.version,
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
    `version = version + (${['false', ...isOther].join(' OR ')})::integer`,
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
  const rows = await statements.query('SELECT FROM client_keys WHERE id = $1 AND version = $2 FOR UPDATE', [
    id,
    version,
  ]);
  if (rows.length === 0) return null;
  const [successorNow] = await statements.query<{ successorId: string }>(
    `SELECT id AS "successorId" FROM client_keys
     WHERE replaces = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) LIMIT 1`,
    [id, now],
  );
  return successorNow ?? null;
}

async function revokeKey(statements: Statements, id: string, revokedAt: number) {
  const [found] = await statements.query<{ isKnown: boolean; isChanged: boolean }>(
    `WITH revoked AS (
       UPDATE client_keys SET revoked_at = $2, version = version + 1 WHERE id = $1 AND revoked_at IS NULL RETURNING 1
     )
     SELECT EXISTS (SELECT FROM client_keys WHERE id = $1) AS "isKnown",
            EXISTS (SELECT FROM revoked) AS "isChanged"`,
    [id, revokedAt],
  );
  return found ?? { isKnown: false, isChanged: false };
}

function listConditions(
  { after, state, search, name }: KeyListQuery,
  place: (value: unknown) => string,
  contains: Dialect['contains'],
): string[] {
  const conditions = ['true'];
  if (after !== null) conditions.push(`(created_at, id) > (${place(after.createdAt)}, ${place(after.id)})`);
  if (name !== undefined) conditions.push(`name = ${place(name)}`);
  if (search !== undefined) conditions.push(contains(['id', 'name'], place(search)));
  if (state?.is === 'revoked') conditions.push('revoked_at IS NOT NULL');
  if (state?.is === 'expired') conditions.push(`revoked_at IS NULL AND expires_at <= ${place(state.now)}`);
  if (state?.is === 'active') {
    conditions.push(`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${place(state.now)})`);
  }
  return conditions;
}
