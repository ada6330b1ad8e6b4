/** Denied subjects in SQLite. */
import type { DatabaseSync, StatementResultingChanges } from 'node:sqlite';
import type { AuditBatch, DeniedSubject, DeniedSubjectStore } from '../ports.ts';
import { createActRunner } from './acts.ts';

/** `onChange` is called after each change that watchers must learn of. */
export function createSqliteDeniedSubjects(database: DatabaseSync, onChange: () => void): DeniedSubjectStore {
  const insert = database.prepare(
    'INSERT INTO denied_subjects (id, denied_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
  );
  const remove = database.prepare('DELETE FROM denied_subjects WHERE id = ?');
  const find = database.prepare('SELECT id, denied_at AS deniedAt FROM denied_subjects WHERE id = ?');
  const list = database.prepare(
    'SELECT id, denied_at AS deniedAt FROM denied_subjects WHERE id > ? ORDER BY id LIMIT ?',
  );
  const runWithAct = createActRunner(database);

  function run(act: AuditBatch | undefined, change: () => StatementResultingChanges): boolean {
    const isDone = runWithAct(
      act,
      () => change().changes !== 0,
      (hasChanged) => hasChanged,
    );
    if (isDone) onChange();
    return isDone;
  }

  return {
    deny: ({ id, deniedAt }, act) => run(act, () => insert.run(id, deniedAt)),
    allow: (id, act) => run(act, () => remove.run(id)),
    find: (id) => (find.get(id) as DeniedSubject | undefined) ?? null,
    list: (after, limit) => list.all(after ?? '', limit) as unknown as DeniedSubject[],
  };
}
