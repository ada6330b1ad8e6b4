/** Connections of persons in a database. Must not know what a body contains. */
import type { ConnectionStore, StoredConnection } from './ports/connections.ts';
import { createParameters, isStorable } from './sql.ts';
import type { Databases } from './statements.ts';

const COLUMNS =
  'instance, person, instance_id AS "instanceId", master_key_id AS "masterKeyId", body, version';

export function createConnections({ durable }: Databases): ConnectionStore {
  return {
    async put({ instance, person, instanceId, masterKeyId, body }, auditBatch) {
      const count = await durable.transactWithAudit(
        auditBatch,
        (statements) =>
          statements.change(
            `INSERT INTO connections (instance, person, instance_id, master_key_id, body, version)
             SELECT name, CAST($3 AS text), id, CAST($4 AS text), CAST($5 AS text), 1 FROM instances
             WHERE id = $1 AND name = $2
             ON CONFLICT (instance, person) DO UPDATE SET instance_id = excluded.instance_id,
               master_key_id = excluded.master_key_id, body = excluded.body, version = connections.version + 1`,
            [instanceId, instance, person, masterKeyId, body],
          ),
        hasChanged,
      );
      return hasChanged(count) ? 'done' : 'missing';
    },
    async find(instance, person) {
      if (!isStorable(instance) || !isStorable(person)) return null;
      const [connection] = await durable.query<StoredConnection>(
        `SELECT ${COLUMNS} FROM connections WHERE instance = $1 AND person = $2`,
        [instance, person],
        'find-connection',
      );
      return connection ?? null;
    },
    async list({ after, limit, instance, person }) {
      if (!isStorable(`${instance} ${person}`)) return [];
      const { values, place } = createParameters();
      const conditions = ['true'];
      if (after !== null)
        conditions.push(`(instance, person) > (${place(after.instance)}, ${place(after.person)})`);
      if (instance !== undefined) conditions.push(`instance = ${place(instance)}`);
      if (person !== undefined) conditions.push(`person = ${place(person)}`);
      return durable.query<StoredConnection>(
        `SELECT ${COLUMNS} FROM connections WHERE ${conditions.join(' AND ')}
         ORDER BY instance, person LIMIT ${place(limit)}`,
        values,
      );
    },
    async replace({ instance, person }, version, { masterKeyId, body }, auditBatch) {
      return hasChanged(
        await durable.transactWithAudit(
          auditBatch,
          (statements) =>
            statements.change(
              `UPDATE connections SET master_key_id = $4, body = $5, version = version + 1
               WHERE instance = $1 AND person = $2 AND version = $3`,
              [instance, person, version, masterKeyId, body],
            ),
          hasChanged,
        ),
      );
    },
    async remove(instance, person, auditBatch) {
      if (!isStorable(instance) || !isStorable(person)) return false;
      const remove = 'DELETE FROM connections WHERE instance = $1 AND person = $2';
      return hasChanged(
        await durable.transactWithAudit(
          auditBatch,
          (it) => it.change(remove, [instance, person]),
          hasChanged,
        ),
      );
    },
  };
}

function hasChanged(count: number): boolean {
  return count > 0;
}
