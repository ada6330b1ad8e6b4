/** Stored instances in PostgreSQL. Must not know what a body contains. */
import type { AuditBatch, Change, InstanceStore, StoredInstance } from '../ports.ts';
import { createParameters, isStorable } from '../sql.ts';
import type { Statements } from '../statements.ts';
import { runWithAct } from './acts.ts';
import { changeVersion } from './change-version.ts';
import type { Database } from './statements.ts';

const COLUMNS = 'id, name, master_key_id AS "masterKeyId", body, version';

export function createPostgresInstances(database: Database): InstanceStore {
  function change(
    act: AuditBatch | undefined,
    statement: string,
    values: readonly unknown[],
  ): Promise<Change> {
    return runWithAct(database, {
      act,
      change: (statements) => changeVersion(statements, 'instances', statement, values),
      isDone: (result) => result === 'done',
    });
  }

  return {
    async insert({ id, name, masterKeyId, body }, act) {
      const insert = (statements: Statements) =>
        statements.change(
          `INSERT INTO instances (id, name, master_key_id, body, version) VALUES ($1, $2, $3, $4, 1)
           ON CONFLICT (name) DO NOTHING`,
          [id, name, masterKeyId, body],
        );
      const inserted = await runWithAct(database, { act, change: insert, isDone: (count) => count === 1 });
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
      if (search !== undefined) conditions.push(database.dialect.contains(['name', 'body'], place(search)));
      return await database.query<StoredInstance>(
        `SELECT ${COLUMNS} FROM instances WHERE ${conditions.join(' AND ')} ORDER BY name LIMIT ${place(limit)}`,
        values,
      );
    },
    async replace(id, version, { masterKeyId, body }, act) {
      const statement =
        'UPDATE instances SET master_key_id = $3, body = $4, version = version + 1 WHERE id = $1 AND version = $2';
      return await change(act, statement, [id, version, masterKeyId, body]);
    },
    async remove(id, version, act) {
      return await change(act, 'DELETE FROM instances WHERE id = $1 AND version = $2', [id, version]);
    },
    async countByMasterKey() {
      const rows = await database.query<{ masterKeyId: string; count: number }>(
        'SELECT master_key_id AS "masterKeyId", count(*) AS count FROM instances GROUP BY master_key_id',
      );
      return new Map(rows.map(({ masterKeyId, count }) => [masterKeyId, count]));
    },
  };
}
