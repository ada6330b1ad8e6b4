/** Stored instances in a database. Must not know what a body contains. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { changeVersion, isDone } from './change-version.ts';
import type { AuditBatch } from './ports/audit.ts';
import type { InstanceStore, StoredInstance } from './ports/instances.ts';
import { createParameters, isStorable } from './sql.ts';
import type { Databases } from './statements.ts';

/** Number of instances that one slice reads, which takes a few milliseconds. */
const SLICE_INSTANCES = 500;
const COLUMNS = 'id, name, master_key_id AS "masterKeyId", body, version';

export function createInstances({ durable }: Databases): InstanceStore {
  const { contains, isBlocking } = durable.dialect;

  function change(auditBatch: AuditBatch | undefined, statement: string, values: readonly unknown[]) {
    return durable.transactWithAudit(
      auditBatch,
      (it) => changeVersion(it, 'instances', statement, values),
      isDone,
    );
  }

  /**
   * Yields ranges of names, each for one query. Other operations run between the queries. `last` null: no upper end.
   */
  async function* listSlices(first: string): AsyncGenerator<{ after: string; last: string | null }> {
    for (let after = first; ; await nextTurn()) {
      const [end] = isBlocking
        ? await durable.query<{ name: string }>(
            `SELECT name FROM instances WHERE name > $1 ORDER BY name LIMIT 1 OFFSET ${SLICE_INSTANCES - 1}`,
            [after],
          )
        : [];
      yield { after, last: end?.name ?? null };
      if (end === undefined) return;
      after = end.name;
    }
  }

  return {
    async insert({ id, name, masterKeyId, body }, auditBatch) {
      const inserted = await durable.transactWithAudit(
        auditBatch,
        (statements) =>
          statements.change(
            `INSERT INTO instances (id, name, master_key_id, body, version) VALUES ($1, $2, $3, $4, 1)
             ON CONFLICT (name) DO NOTHING`,
            [id, name, masterKeyId, body],
          ),
        (count) => count === 1,
      );
      return inserted === 1 ? 'done' : 'conflict';
    },
    async findByName(name) {
      if (!isStorable(name)) return null;
      const [instance] = await durable.query<StoredInstance>(
        `SELECT ${COLUMNS} FROM instances WHERE name = $1`,
        [name],
        'find-instance',
      );
      return instance ?? null;
    },
    async list({ after, limit, search }) {
      if (!isStorable(after ?? '') || !isStorable(search ?? '')) return [];
      const found: StoredInstance[] = [];
      for await (const slice of listSlices(after ?? '')) {
        const { values, place } = createParameters(slice.after);
        const conditions = ['name > $1'];
        if (slice.last !== null) conditions.push(`name <= ${place(slice.last)}`);
        if (search !== undefined) conditions.push(contains(['name', 'body'], place(search)));
        const rows = await durable.query<StoredInstance>(
          `SELECT ${COLUMNS} FROM instances WHERE ${conditions.join(' AND ')}
           ORDER BY name LIMIT ${place(limit - found.length)}`,
          values,
        );
        found.push(...rows);
        if (found.length === limit) break;
      }
      return found;
    },
    replace: (id, version, { masterKeyId, body }, auditBatch) =>
      change(
        auditBatch,
        'UPDATE instances SET master_key_id = $3, body = $4, version = version + 1 WHERE id = $1 AND version = $2',
        [id, version, masterKeyId, body],
      ),
    remove: (id, version, auditBatch) =>
      change(auditBatch, 'DELETE FROM instances WHERE id = $1 AND version = $2', [id, version]),
    async countByMasterKey() {
      const counts = new Map<string, number>();
      for await (const { after, last } of listSlices('')) {
        const rows = await durable.query<{ id: string; count: number }>(
          `SELECT master_key_id AS id, count(*) AS count FROM instances
           WHERE name > $1 ${last === null ? '' : 'AND name <= $2'} GROUP BY master_key_id`,
          last === null ? [after] : [after, last],
        );
        for (const { id, count } of rows) counts.set(id, (counts.get(id) ?? 0) + count);
      }
      return counts;
    },
  };
}
