/**
 * One connection to the SQLite database, as the parts of the store use it. Its statements block. A transaction ends
 * before the next task of the event loop begins, because its steps wait for nothing else.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { Dialect, StoreDatabase } from '../statements.ts';
import { prepareAppend } from './audit.ts';

export interface SqliteConnection extends StoreDatabase {
  /** Resolves when the open transaction ends; null: none is open. Other users of the connection wait for it. */
  readonly transaction: Promise<void> | null;
}

/** Maximum number of prepared statements that are kept. */
const STATEMENTS_MAX = 300;
/**
 * Longer statements are not kept: they contain a list of rows, so each number of rows has its own, of up to a megabyte.
 */
const TEXT_LENGTH_MAX = 4096;

/** A transaction has the write lock of the file, so that it needs no further locks. */
const DIALECT: Dialect = {
  isBlocking: true,
  forUpdate: '',
  skipLocked: '',
  least: 'min',
  greatest: 'max',
  now: 'now_ms()',
  nowPlus: (milliseconds) => `now_ms() + ${milliseconds}`,
  longAgo: '0',
  lock: () => 'SELECT 1',
  isIn: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  contains: (columns, parameter) =>
    `(${columns.map((column) => `instr(lower(${column}), lower(${parameter}))`).join(' OR ')})`,
};

export interface ConnectionOptions {
  /** Called after each transaction. */
  readonly onCommit?: () => void;
  /** The clock of the machine, which all processes share, in milliseconds. */
  readonly clock?: () => number;
}

export function createConnection(
  database: DatabaseSync,
  { onCommit = () => {}, clock = Date.now }: ConnectionOptions = {},
): SqliteConnection {
  database.function('now_ms', clock);
  const prepared = new LRUCache<string, StatementSync>({ max: STATEMENTS_MAX });
  const append = prepareAppend(database);
  let transaction: Promise<void> | null = null;

  function prepare(text: string): StatementSync {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const statement = database.prepare(text.replaceAll(/\$(\d+)/g, '?$1'));
    if (text.length <= TEXT_LENGTH_MAX) prepared.set(text, statement);
    return statement;
  }

  const statements = {
    dialect: DIALECT,
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      return prepare(text).all(...values.map(toInput)) as Row[];
    },
    async change(text: string, values: readonly unknown[] = []) {
      return Number(prepare(text).run(...values.map(toInput)).changes);
    },
  };

  const connection: SqliteConnection = {
    ...statements,
    get transaction() {
      return transaction;
    },
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      while (transaction !== null) await transaction;
      return statements.query<Row>(text, values);
    },
    async change(text, values) {
      while (transaction !== null) await transaction;
      return statements.change(text, values);
    },
    async transact(work) {
      while (transaction !== null) await transaction;
      const { promise, resolve } = Promise.withResolvers<void>();
      transaction = promise;
      try {
        // Gets the write lock at the beginning: after a read, getting it could fail because another process has
        // written.
        database.exec('BEGIN IMMEDIATE');
        const result = await work(statements);
        database.exec('COMMIT');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      } finally {
        transaction = null;
        resolve();
        onCommit();
      }
    },
    transactWithAudit: (auditBatch, work, isDone) =>
      connection.transact(async (inner) => {
        const result = await work(inner);
        if (auditBatch !== undefined && isDone(result)) append(auditBatch);
        return result;
      }),
  };
  return connection;
}

function toInput(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLInputValue);
}
