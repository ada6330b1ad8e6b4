/**
 * A change in PostgreSQL and the record of the administrative act that made it: both or neither. Where the answer to the
 * commit does not arrive, it looks for the record, which tells whether both were made.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditBatch, AuditPosition } from '../ports.ts';
import { StoreError } from '../store-error.ts';
import { UnknownOutcomeError } from '../unknown-outcome-error.ts';
import { appendBatch, isAppended } from './audit.ts';
import type { Database, Statements } from './database.ts';

const LOOKS_MAX = 3;
const LOOK_AGAIN_MS = 500;

export interface ActChange<Result> {
  act: AuditBatch | undefined;
  change: (statements: Statements) => Promise<Result>;
  /** Whether the act is to be appended. */
  isDone: (outcome: Result) => boolean;
}

/** Gives what `change` gives. Without an act there is no transaction. */
export async function runWithAct<Result>(database: Database, given: ActChange<Result>): Promise<Result> {
  return given.act === undefined ? given.change(database) : transactWithAct(database, given);
}

export async function transactWithAct<Result>(
  database: Database,
  { act, change, isDone }: ActChange<Result>,
): Promise<Result> {
  let appended: { outcome: Result; end: AuditPosition } | undefined;
  try {
    return await database.transact(async (statements) => {
      const outcome = await change(statements);
      if (act !== undefined && isDone(outcome)) {
        appended = { outcome, end: await appendBatch(statements, act) };
      }
      return outcome;
    });
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError) || appended === undefined) throw error;
    if (await isMade(database, appended.end, error)) return appended.outcome;
    const reason = 'the connection broke off before the change was made.';
    throw new StoreError(`Nothing was changed: ${reason}`, { cause: error, reason });
  }
}

/** Throws the error where that cannot be found out. */
async function isMade(database: Database, end: AuditPosition, error: UnknownOutcomeError): Promise<boolean> {
  for (let looks = 1; ; looks++) {
    try {
      return await database.inspect((statements) => isAppended(statements, end));
    } catch {
      if (looks === LOOKS_MAX) throw error;
      await sleep(LOOK_AGAIN_MS);
    }
  }
}
