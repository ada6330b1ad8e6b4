/** Stored instances in SQLite. Must not know what a body holds. */
import type { DatabaseSync } from 'node:sqlite';
import type { Change, InstanceStore, StoredInstance } from './ports.ts';

const COLUMNS = 'id, name, master_key_id AS masterKeyId, body, version';

/** `onChange` is called after each change that watchers are to be told of. */
export function createSqliteInstances(database: DatabaseSync, onChange: () => void): InstanceStore {
  const insert = database.prepare(
    'INSERT INTO instances (id, name, master_key_id, body) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const findByName = database.prepare(`SELECT ${COLUMNS} FROM instances WHERE name = ?`);
  const list = database.prepare(
    `SELECT ${COLUMNS} FROM instances
     WHERE name > :after AND (instr(lower(name), lower(:search)) OR instr(lower(body), lower(:search)))
     ORDER BY name LIMIT :limit`,
  );
  const replace = database.prepare(
    'UPDATE instances SET master_key_id = ?, body = ?, version = version + 1 WHERE id = ? AND version = ?',
  );
  const remove = database.prepare('DELETE FROM instances WHERE id = ? AND version = ?');
  const hasId = database.prepare('SELECT 1 FROM instances WHERE id = ?');
  const countByMasterKey = database.prepare(
    'SELECT master_key_id AS id, count(*) AS count FROM instances GROUP BY master_key_id',
  );

  function conclude(id: string, changed: number | bigint): Change {
    if (changed === 0) return hasId.get(id) ? 'conflict' : 'missing';
    onChange();
    return 'done';
  }

  return {
    insert({ id, name, masterKeyId, body }) {
      if (insert.run(id, name, masterKeyId, body).changes === 0) return 'conflict';
      onChange();
      return 'done';
    },
    findByName(name) {
      return (findByName.get(name) as StoredInstance | undefined) ?? null;
    },
    list({ after, limit, search = '' }) {
      return list.all({ after: after ?? '', search, limit }) as unknown as StoredInstance[];
    },
    replace(id, version, { masterKeyId, body }) {
      return conclude(id, replace.run(masterKeyId, body, id, version).changes);
    },
    remove(id, version) {
      return conclude(id, remove.run(id, version).changes);
    },
    countByMasterKey() {
      return new Map(countByMasterKey.all().map(({ id, count }) => [String(id), Number(count)]));
    },
  };
}
