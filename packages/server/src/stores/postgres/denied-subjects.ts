/** Denied subjects in PostgreSQL. */
import type { AuditBatch, DeniedSubject, DeniedSubjectStore } from '../ports.ts';
import { runWithAct } from './acts.ts';
import { isStorable } from './sql.ts';
import type { Database } from './statements.ts';

const COLUMNS = 'id, denied_at AS "deniedAt"';

export function createPostgresDeniedSubjects(database: Database): DeniedSubjectStore {
  async function change(
    act: AuditBatch | undefined,
    statement: string,
    values: readonly unknown[],
  ): Promise<boolean> {
    const count = await runWithAct(database, {
      act,
      change: (statements) => statements.change(statement, values),
      isDone: (changed) => changed === 1,
    });
    return count === 1;
  }

  return {
    deny: ({ id, deniedAt }, act) =>
      change(act, 'INSERT INTO denied_subjects (id, denied_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING', [
        id,
        deniedAt,
      ]),
    async allow(id, act) {
      return isStorable(id) && change(act, 'DELETE FROM denied_subjects WHERE id = $1', [id]);
    },
    async find(id) {
      const statement = `SELECT ${COLUMNS} FROM denied_subjects WHERE id = $1`;
      const [subject] = await database.query<DeniedSubject>(statement, [id], 'find-denied-subject');
      return subject ?? null;
    },
    list: (after, limit) =>
      database.query<DeniedSubject>(
        `SELECT ${COLUMNS} FROM denied_subjects WHERE id > $1 ORDER BY id LIMIT $2`,
        [after ?? '', limit],
      ),
  };
}
