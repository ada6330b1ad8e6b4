/** Operators in a database. Must not know what is granted, or when a session is valid. */
import type { OperatorRecord, OperatorStore } from './ports/operators.ts';
import { isStorable } from './sql.ts';
import type { Databases } from './statements.ts';

const COLUMNS = 'id, name, granted, confirmed_at AS "confirmedAt", ended_until AS "endedUntil"';

export function createOperatorRecords({ durable }: Databases): OperatorStore {
  const { isIn } = durable.dialect;
  const change = async (statement: string, values: (string | number | null)[]) => {
    await durable.transact((statements) => statements.change(statement, values));
  };
  return {
    confirm: ({ id, name, granted, confirmedAt }) =>
      change(
        `INSERT INTO operators (id, name, granted, confirmed_at, ended_until) VALUES ($1, $2, $3, $4, 0)
         ON CONFLICT (id) DO UPDATE SET name = $2, granted = $3, confirmed_at = $4`,
        [id, name, granted, confirmedAt],
      ),
    withdraw: (id) => change('UPDATE operators SET granted = NULL WHERE id = $1', [id]),
    async endSessions(id, until, auditBatch) {
      if (!isStorable(id)) return false;
      const end = `UPDATE operators SET ended_until = CASE WHEN ended_until < $2 THEN $2 ELSE ended_until END
        WHERE id = $1`;
      const isKnown = (count: number) => count === 1;
      return isKnown(
        await durable.transactWithAudit(auditBatch, (it) => it.change(end, [id, until]), isKnown),
      );
    },
    endSession: ({ session, keptUntil, now }) =>
      durable.transact(async (statements) => {
        await statements.change('DELETE FROM ended_sessions WHERE kept_until < $1', [now]);
        await statements.change(
          'INSERT INTO ended_sessions (id, kept_until) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
          [session, keptUntil],
        );
      }),
    async hasEnded(sessions) {
      const find = `SELECT id FROM ended_sessions WHERE ${isIn('id', '$1')} LIMIT 1`;
      return (await durable.query(find, [sessions], 'find-ended-session')).length > 0;
    },
    async find(id) {
      if (!isStorable(id)) return null;
      const find = `SELECT ${COLUMNS} FROM operators WHERE id = $1`;
      const [found] = await durable.query<OperatorRecord>(find, [id], 'find-operator');
      return found ?? null;
    },
    list: (after, limit) =>
      durable.query<OperatorRecord>(`SELECT ${COLUMNS} FROM operators WHERE id > $1 ORDER BY id LIMIT $2`, [
        after ?? '',
        limit,
      ]),
  };
}
