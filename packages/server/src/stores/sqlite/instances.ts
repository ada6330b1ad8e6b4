/** Stored instances in SQLite. Must not know what a body contains. */
import type { DatabaseSync, StatementResultingChanges } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditBatch, Change, InstanceStore, StoredInstance } from '../ports.ts';
import { createActRunner } from './acts.ts';

/** Instances that one slice reads. Takes a few milliseconds. */
const SLICE_INSTANCES = 500;
/** A BLOB sorts after every text. */
const AFTER_ALL = new Uint8Array();
const COLUMNS = 'id, name, master_key_id AS masterKeyId, body, version';

/** `onChange` is called after each change that watchers must learn of. */
export function createSqliteInstances(database: DatabaseSync, onChange: () => void): InstanceStore {
  const insert = database.prepare(
    'INSERT INTO instances (id, name, master_key_id, body) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const findByName = database.prepare(`SELECT ${COLUMNS} FROM instances WHERE name = ?`);
  const list = database.prepare(
    `SELECT ${COLUMNS} FROM instances
     WHERE name > :after AND name <= :last
       AND (instr(lower(name), lower(:search)) OR instr(lower(body), lower(:search)))
     ORDER BY name LIMIT :limit`,
  );
  const findSliceEnd = database.prepare(
    `SELECT name FROM instances WHERE name > ? ORDER BY name LIMIT 1 OFFSET ${SLICE_INSTANCES - 1}`,
  );
  const replace = database.prepare(
    'UPDATE instances SET master_key_id = ?, body = ?, version = version + 1 WHERE id = ? AND version = ?',
  );
  const remove = database.prepare('DELETE FROM instances WHERE id = ? AND version = ?');
  const hasId = database.prepare('SELECT 1 FROM instances WHERE id = ?');
  const countByMasterKey = database.prepare(
    `SELECT master_key_id AS id, count(*) AS count FROM instances
     WHERE name > :after AND name <= :last GROUP BY master_key_id`,
  );

  const runWithAct = createActRunner(database);

  /** Returns the number of rows that the statement changed. */
  function run(act: AuditBatch | undefined, change: () => StatementResultingChanges): number | bigint {
    const changed = runWithAct(
      act,
      () => change().changes,
      (count) => count !== 0,
    );
    if (changed !== 0) onChange();
    return changed;
  }

  /** Ranges of names, each read at once. Other operations run between them. */
  async function* listSlices(first: string): AsyncGenerator<{ after: string; last: string | Uint8Array }> {
    for (let after = first; ; await nextTurn()) {
      const end = findSliceEnd.get(after)?.['name'] as string | undefined;
      yield { after, last: end ?? AFTER_ALL };
      if (end === undefined) return;
      after = end;
    }
  }

  function conclude(id: string, changed: number | bigint): Change {
    if (changed !== 0) return 'done';
    return hasId.get(id) ? 'conflict' : 'missing';
  }

  return {
    insert({ id, name, masterKeyId, body }, act) {
      return run(act, () => insert.run(id, name, masterKeyId, body)) === 0 ? 'conflict' : 'done';
    },
    findByName(name) {
      return (findByName.get(name) as StoredInstance | undefined) ?? null;
    },
    async list({ after, limit, search = '' }) {
      const found: StoredInstance[] = [];
      for await (const slice of listSlices(after ?? '')) {
        const rows = list.all({ ...slice, search, limit: limit - found.length });
        found.push(...(rows as unknown as StoredInstance[]));
        if (found.length === limit) break;
      }
      return found;
    },
    replace(id, version, { masterKeyId, body }, act) {
      return conclude(
        id,
        run(act, () => replace.run(masterKeyId, body, id, version)),
      );
    },
    remove(id, version, act) {
      return conclude(
        id,
        run(act, () => remove.run(id, version)),
      );
    },
    async countByMasterKey() {
      const counts = new Map<string, number>();
      for await (const slice of listSlices('')) {
        for (const { id, count } of countByMasterKey.all(slice))
          counts.set(String(id), (counts.get(String(id)) ?? 0) + Number(count));
      }
      return counts;
    },
  };
}
