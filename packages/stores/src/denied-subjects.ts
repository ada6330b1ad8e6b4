/** Denied subjects in a database. */
import type { DeniedSubject, DeniedSubjectStore } from './ports/denied-subjects.ts';
import { isStorable } from './sql.ts';
import type { Databases } from './statements.ts';

const COLUMNS = 'id, denied_at AS "deniedAt"';

export function createDeniedSubjects({ durable }: Databases): DeniedSubjectStore {
  const { isIn } = durable.dialect;
  const hasChanged = (count: number) => count === 1;
  return {
    async deny({ id, deniedAt }, auditBatch) {
      const insert =
        'INSERT INTO denied_subjects (id, denied_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING';
      return hasChanged(
        await durable.transactWithAudit(auditBatch, (it) => it.change(insert, [id, deniedAt]), hasChanged),
      );
    },
    async allow(id, auditBatch) {
      if (!isStorable(id)) return false;
      const remove = 'DELETE FROM denied_subjects WHERE id = $1';
      return hasChanged(
        await durable.transactWithAudit(auditBatch, (it) => it.change(remove, [id]), hasChanged),
      );
    },
    async find(id) {
      const find = `SELECT ${COLUMNS} FROM denied_subjects WHERE id = $1`;
      const [subject] = await durable.query<DeniedSubject>(find, [id], 'find-denied-subject');
      return subject ?? null;
    },
    findAll: (ids) =>
      durable.query<DeniedSubject>(
        `SELECT ${COLUMNS} FROM denied_subjects WHERE ${isIn('id', '$1')}`,
        [ids],
        'find-denied-subjects',
      ),
    list: (after, limit) =>
      durable.query<DeniedSubject>(
        `SELECT ${COLUMNS} FROM denied_subjects WHERE id > $1 ORDER BY id LIMIT $2`,
        [after ?? '', limit],
      ),
  };
}
