/** Makes a change in SQLite and appends the record of the administrative act, both or neither. */
import type { DatabaseSync } from 'node:sqlite';
import type { AuditBatch } from '../ports.ts';
import { prepareAppend } from './audit.ts';
import { transact } from './transaction.ts';

/** Returns the result of `change`. Appends the act if `isDone` is true for it. */
export type RunWithAct = <Result>(
  act: AuditBatch | undefined,
  change: () => Result,
  isDone: (result: Result) => boolean,
) => Result;

export function createActRunner(database: DatabaseSync): RunWithAct {
  const append = prepareAppend(database);
  return (act, change, isDone) =>
    transact(database, () => {
      const result = change();
      if (act !== undefined && isDone(result)) append(act);
      return result;
    });
}
