/** Denied subjects in memory. */
import type { AuditBatch, ChangeListener, DeniedSubject, DeniedSubjectStore } from '../ports.ts';
import { compareCodePoints } from './text.ts';

export function createMemoryDeniedSubjects(
  tell: ChangeListener,
  appendAct: (act: AuditBatch | undefined) => void,
): DeniedSubjectStore {
  const subjects = new Map<string, DeniedSubject>();

  function conclude(id: string, act: AuditBatch | undefined): true {
    appendAct(act);
    tell({ kind: 'subject', id });
    return true;
  }

  return {
    deny({ id, deniedAt }, act) {
      if (subjects.has(id)) return false;
      subjects.set(id, { id, deniedAt });
      return conclude(id, act);
    },
    allow: (id, act) => subjects.delete(id) && conclude(id, act),
    find: (id) => subjects.get(id) ?? null,
    list(after, limit) {
      return [...subjects.values()]
        .filter(({ id }) => after === null || compareCodePoints(id, after) > 0)
        .sort((a, b) => compareCodePoints(a.id, b.id))
        .slice(0, limit);
    },
  };
}
