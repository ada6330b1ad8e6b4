/** Stored instances in PostgreSQL. What their bodies say is for instances/ alone. */
import type { InstanceStore, StoredInstance } from './ports.ts';
import { changeVersion } from './postgres-change-version.ts';
import type { Database } from './postgres-database.ts';
import { contains, createParameters, isStorable } from './postgres-sql.ts';

const COLUMNS = 'id, name, master_key_id AS "masterKeyId", body, version';

export function createPostgresInstances(database: Database): InstanceStore {
  return {
    async insert({ id, name, masterKeyId, body }) {
      const inserted = await database.change(
        `INSERT INTO instances (id, name, master_key_id, body, version) VALUES ($1, $2, $3, $4, 1)
         ON CONFLICT (name) DO NOTHING`,
        [id, name, masterKeyId, body],
      );
      return inserted === 1 ? 'done' : 'conflict';
    },
    async findByName(name) {
      if (!isStorable(name)) return null;
      const [instance] = await database.query<StoredInstance>(
        `SELECT ${COLUMNS} FROM instances WHERE name = $1`,
        [name],
        'find-instance',
      );
      return instance ?? null;
    },
    async list({ after, limit, search }) {
      if (!isStorable(after ?? '') || !isStorable(search ?? '')) return [];
      const { values, place } = createParameters();
      const conditions = ['true'];
      if (after !== null) conditions.push(`name > ${place(after)}`);
      if (search !== undefined) conditions.push(contains(['name', 'body'], place(search)));
      return await database.query<StoredInstance>(
        `SELECT ${COLUMNS} FROM instances WHERE ${conditions.join(' AND ')} ORDER BY name LIMIT ${place(limit)}`,
        values,
      );
    },
    async replace(id, version, { masterKeyId, body }) {
      return await changeVersion(
        database,
        'instances',
        `UPDATE instances SET master_key_id = $3, body = $4, version = version + 1 WHERE id = $1 AND version = $2`,
        [id, version, masterKeyId, body],
      );
    },
    async remove(id, version) {
      return await changeVersion(
        database,
        'instances',
        'DELETE FROM instances WHERE id = $1 AND version = $2',
        [id, version],
      );
    },
    async countByMasterKey() {
      const rows = await database.query<{ masterKeyId: string; count: number }>(
        'SELECT master_key_id AS "masterKeyId", count(*) AS count FROM instances GROUP BY master_key_id',
      );
      return new Map(rows.map(({ masterKeyId, count }) => [masterKeyId, count]));
    },
  };
}
