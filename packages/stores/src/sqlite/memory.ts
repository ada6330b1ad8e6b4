/**
 * The store in memory, for tests, demos and trials: the SQLite store on a database that is lost at exit. It needs no
 * thread, because neither a disk nor another process makes it wait.
 */
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IdempotencyStore } from '../ports/idempotency.ts';
import type { FoundStore, Store } from '../ports/store.ts';
import { StoreError } from '../store-error.ts';
import { openChangeFeed } from './changes.ts';
import { describeFailure } from './failures.ts';
import { migrate } from './migrations.ts';
import { createParts, type PartName, type Parts } from './operations.ts';
import { openParts } from './parts.ts';

const LABEL = 'memory';
/** Maximum size of the audit records that a search compares without a pause. */
const SCAN_BYTES_MAX = 256 * 1024;
/** Number of answers that are dropped without a pause, which takes a millisecond. */
const DROPPED_MAX = 100;
const BOUNDS = { keysMax: 100_000, answerBytesMax: 64 * 1024 * 1024 };

/** `bounds`: limits for idempotency keys and their answers. */
export function openMemoryStore({ clock = Date.now, bounds = BOUNDS } = {}): Store {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const changes = openChangeFeed(database);
  const { parts: opened, connection } = openParts(
    { durable: database, quick: database },
    { onCommit: changes.poll, clock, audit: { scanBytesMax: SCAN_BYTES_MAX } },
  );
  opened.idempotency = boundIdempotency(database, opened.idempotency, bounds);
  const { store, ...parts } = createParts(async (part, method, args) => {
    while (connection.transaction !== null) await connection.transaction;
    return await run(opened, part, method, args);
  });
  return {
    label: LABEL,
    ...parts,
    watch: changes.watch,
    isWatching: true,
    trouble: null,
    probe: store.probe,
    async close() {
      if (database.isOpen) database.close();
    },
  };
}

/** Says that the store exists: a store in memory exists whenever it is opened. */
export function lookForMemoryStore(): FoundStore {
  return { label: LABEL, exists: true };
}

/** Runs an operation. Failures become {@link StoreError}s. */
async function run(parts: Parts, part: PartName, method: string, args: readonly unknown[]): Promise<unknown> {
  const operations = parts[part] as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  try {
    return await operations[method]?.(...args);
  } catch (error) {
    const reason = describeFailure(error);
    throw new StoreError(`The store ${LABEL} cannot be used: ${reason}`, { reason, cause: error });
  }
}

/** Beyond `keysMax`, new keys are refused. Beyond `answerBytesMax`, the oldest answers are dropped, but no key. */
function boundIdempotency(
  database: DatabaseSync,
  { complete, ...others }: IdempotencyStore,
  { keysMax, answerBytesMax }: typeof BOUNDS,
): IdempotencyStore {
  database.exec(`
    CREATE TABLE totals AS SELECT 0 AS keys, 0 AS answer_bytes;
    CREATE INDEX answers_by_age ON idempotency_keys (expires_at) WHERE answer_bytes > 0;
    CREATE TRIGGER key_claimed AFTER INSERT ON idempotency_keys BEGIN
      UPDATE totals SET keys = keys + 1;
      SELECT RAISE(ABORT, 'it has no room for more idempotency keys. Use a lasting store.')
        FROM totals WHERE keys > ${keysMax};
    END;
    CREATE TRIGGER key_removed AFTER DELETE ON idempotency_keys BEGIN
      UPDATE totals SET keys = keys - 1, answer_bytes = answer_bytes - old.answer_bytes;
    END;
    CREATE TRIGGER answer_changed AFTER UPDATE OF answer_bytes ON idempotency_keys BEGIN
      UPDATE totals SET answer_bytes = answer_bytes + new.answer_bytes - old.answer_bytes;
    END;`);
  const dropOldest = database.prepare(
    `UPDATE idempotency_keys SET answer = NULL, answer_bytes = 0
     WHERE (SELECT answer_bytes FROM totals) > ${answerBytesMax}
       AND id = (SELECT id FROM idempotency_keys WHERE answer_bytes > 0 ORDER BY expires_at LIMIT 1)`,
  );
  return {
    ...others,
    async complete(...args) {
      await complete(...args);
      for (let count = 1; dropOldest.run().changes > 0; count++)
        if (count % DROPPED_MAX === 0) await nextTurn();
    },
  };
}
