/**
 * Makes a change in PostgreSQL and appends its audit record, both or neither. If the answer to the commit does not
 * arrive, it looks for the record, which shows whether both were committed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditBatch, AuditPosition } from '../ports/audit.ts';
import type { Statements } from '../statements.ts';
import { StoreError } from '../store-error.ts';
import { UnknownOutcomeError } from '../unknown-outcome-error.ts';
import { appendBatch, isAppended } from './audit.ts';
import type { Database } from './statements.ts';

const CHECKS_MAX = 3;
const CHECK_RETRY_MS = 500;

export async function transactWithAudit<Result>(
  database: Database,
  auditBatch: AuditBatch | undefined,
  work: (statements: Statements) => Promise<Result>,
  isDone: (result: Result) => boolean,
): Promise<Result> {
  let appended: { result: Result; end: AuditPosition } | undefined;
  try {
    return await database.transact(async (statements) => {
      const result = await work(statements);
      if (auditBatch !== undefined && isDone(result)) {
        appended = { result, end: await appendBatch(statements, auditBatch) };
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

/** Whether the transaction was committed. Throws `error` if this cannot be determined. */
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
