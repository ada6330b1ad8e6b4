/**
 * Makes a change in PostgreSQL and appends the record of the administrative act, both or neither. If the answer to the
 * commit does not arrive, it checks for the record, which shows whether both were committed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditBatch, AuditPosition } from '../ports.ts';
import { StoreError } from '../store-error.ts';
import { UnknownOutcomeError } from '../unknown-outcome-error.ts';
import { appendBatch, isAppended } from './audit.ts';
import type { Database, Statements } from './statements.ts';

const CHECKS_MAX = 3;
const CHECK_RETRY_MS = 500;

export interface ActChange<Result> {
  act: AuditBatch | undefined;
  change: (statements: Statements) => Promise<Result>;
  /** Whether to append the act. */
  isDone: (result: Result) => boolean;
}

/** Returns the result of `change`. Without an act there is no transaction. */
export async function runWithAct<Result>(database: Database, given: ActChange<Result>): Promise<Result> {
  return given.act === undefined ? given.change(database) : transactWithAct(database, given);
}

export async function transactWithAct<Result>(
  database: Database,
  { act, change, isDone }: ActChange<Result>,
): Promise<Result> {
  let appended: { result: Result; end: AuditPosition } | undefined;
  try {
    return await database.transact(async (statements) => {
      const result = await change(statements);
      if (act !== undefined && isDone(result)) {
        appended = { result, end: await appendBatch(statements, act) };
      }
      return result;
    });
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError) || appended === undefined) throw error;
    if (await isCommitted(database, appended.end, error)) return appended.result;
    const reason = 'the connection broke off before the change was made.';
    throw new StoreError(`Nothing was changed: ${reason}`, { cause: error, reason });
  }
}

/** Throws `error` if it cannot be determined. */
async function isCommitted(
  database: Database,
  end: AuditPosition,
  error: UnknownOutcomeError,
): Promise<boolean> {
  for (let checks = 1; ; checks++) {
    try {
      return await database.inspect((statements) => isAppended(statements, end));
    } catch {
      if (checks === CHECKS_MAX) throw error;
      await sleep(CHECK_RETRY_MS);
    }
  }
}
