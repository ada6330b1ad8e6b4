/**
 * What keeps PostgreSQL from taking changes: a full disk, say, or commits that hang. It is known from the statements
 * that failed, and over when a change of no consequence succeeds. Reads may work all the time.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from './database.ts';
import { explainFailure, readCode } from './failures.ts';

const TRY_EVERY_MS = 2000;
/** More than one page of a table, so that the table must grow. It is random, since what repeats is compressed. */
const TRIAL_BYTES = 16 * 1024;

export interface Trouble {
  /** For operators; null: none. */
  readonly reason: string | null;
  /** A statement failed. */
  note(error: unknown): void;
  /** A statement did not end in time. */
  noteHanging(): void;
  close(): void;
}

export function createTrouble(findDatabase: () => Database): Trouble {
  let reason: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function begin(why: string): void {
    reason = why;
    if (!isClosed) timer ??= setTimeout(retry, TRY_EVERY_MS).unref();
  }

  async function retry(): Promise<void> {
    const isOver = await canChange(findDatabase());
    timer = undefined;
    if (isOver) reason = null;
    else if (reason !== null) begin(reason);
  }

  return {
    get reason() {
      return reason;
    },
    note(error) {
      if (STORAGE_FAILURE.test(readCode(error) ?? '')) begin(explainFailure(error) ?? 'its storage fails.');
    },
    noteHanging() {
      begin('statements do not end in time: see what they wait for, a standby that is away perhaps.');
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Insufficient resources but for connections, faults of input and output, and a server that can only be read. */
const STORAGE_FAILURE = /^(53[124]00|58...|25006)$/;

async function canChange(database: Database): Promise<boolean> {
  const { givenUp } = database;
  try {
    await change(database);
    return database.givenUp === givenUp;
  } catch {
    return false;
  }
}

/** A row that is gone when the transaction ends; the transaction does commit. */
function change(database: Database): Promise<void> {
  return database.transact(async (statements) => {
    const id = `trial ${randomUUID()}`;
    await statements.change(
      `INSERT INTO idempotency_keys (id, fingerprint, attempt, runs_until, expires_at, answer)
       VALUES ($1, '', '', now(), now(), $2)`,
      [id, randomBytes(TRIAL_BYTES)],
    );
    await statements.change('DELETE FROM idempotency_keys WHERE id = $1', [id]);
  });
}
