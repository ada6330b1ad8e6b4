/** A change in SQLite and the record of the administrative act that made it: both or neither. */
import type { DatabaseSync } from 'node:sqlite';
import type { AuditBatch } from '../ports.ts';
import { prepareAppend } from './audit.ts';
import { transact } from './transaction.ts';

/** Gives what `change` gives; where that is done, the act is appended. */
export type RunWithAct = <Result>(
  act: AuditBatch | undefined,
  change: () => Result,
  isDone: (outcome: Result) => boolean,
) => Result;

export function createActRunner(database: DatabaseSync): RunWithAct {
  const append = prepareAppend(database);
  return (act, change, isDone) =>
    transact(database, () => {
      const outcome = change();
      if (act !== undefined && isDone(outcome)) append(act);
      return outcome;
    });
}
