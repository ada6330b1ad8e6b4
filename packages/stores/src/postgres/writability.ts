/**
 * Knows why PostgreSQL does not accept changes: a full disk, for example, or commits that hang. It learns this from
 * failed statements. It then tries a change without effect every two seconds, and when the server can be reached again,
 * until one succeeds. Reads may work meanwhile.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { describeFailure, readCode } from './failures.ts';
import type { Database } from './statements.ts';

const TRIAL_INTERVAL_MS = 2000;
/** More than one page, so that the table must grow. The content is random, because repetitions would be compressed. */
const TRIAL_BYTES = 16 * 1024;

export interface Writability {
  /** Reason for operators; null: changes are accepted, as far as is known. */
  readonly trouble: string | null;
  /** Call this when a statement failed. */
  recordFailure(error: unknown): void;
  /** Call this when a statement did not end in time. */
  recordTimeout(): void;
  /**
   * Call this when the server answers on a new connection. Begins a new trial: a running one may hang on a dead
   * connection.
   */
  recordReachable(): void;
  close(): void;
}

export function watchWritability(findDatabase: () => Database): Writability {
  let trouble: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function begin(reason: string): void {
    trouble = reason;
    if (!isClosed) timer ??= setTimeout(retry, TRIAL_INTERVAL_MS).unref();
  }

  async function retry(): Promise<void> {
    const isOver = await canChange(findDatabase());
    timer = undefined;
    if (isOver) trouble = null;
    else if (trouble !== null) begin(trouble);
  }

  async function tryNow(): Promise<void> {
    if (trouble !== null && (await canChange(findDatabase()))) trouble = null;
  }

  return {
    get trouble() {
      return trouble;
    },
    recordFailure(error) {
      if (STORAGE_FAILURE.test(readCode(error) ?? '')) begin(describeFailure(error) ?? 'its storage fails.');
    },
    recordTimeout() {
      begin('statements do not end in time: see what they wait for, a standby that is away perhaps.');
    },
    recordReachable: () => void tryNow(),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** SQLSTATEs of insufficient resources except connections, of I/O errors, and of a read-only server. */
const STORAGE_FAILURE = /^(53[124]00|58...|25006)$/;

async function canChange(database: Database): Promise<boolean> {
  const { statementsGivenUp } = database;
  try {
    await change(database);
    return database.statementsGivenUp === statementsGivenUp;
  } catch {
    return false;
  }
}

/** Commits a transaction that inserts a row and deletes it again. */
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
