/**
 * Statements and transactions on PostgreSQL. Failures become {@link StoreError}s that name host and database. Must not
 * know a table.
 */
import pg from 'pg';
import type { Dialect, Statements } from '../statements.ts';
import type { PostgresAddress } from './address.ts';
import { openConnectionPool, type PooledConnection } from './connection-pool.ts';
import { throwStoreError, throwUnknownOutcome } from './failures.ts';
import type { Database } from './statements.ts';
import { watchWritability } from './writability.ts';

const CONNECT_TIMEOUT_MS = 3000;

const DIALECT: Dialect = {
  isBlocking: false,
  forUpdate: 'FOR UPDATE',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  least: 'least',
  greatest: 'greatest',
  // The clock of the server, so that replicas whose clocks differ agree.
  now: 'clock_timestamp()',
  nowPlus: (milliseconds) =>
    `clock_timestamp() + make_interval(secs => ${milliseconds}::double precision / 1000)`,
  longAgo: "'-infinity'",
  lock: (number) => `SELECT pg_advisory_xact_lock(${number})`,
  isIn: (column, parameter) => `${column} = ANY (${parameter})`,
  // The collation "C" changes the case of ASCII letters only.
  contains: (columns, parameter) =>
    `(${columns.map((column) => `strpos(lower(${column} COLLATE "C"), lower(${parameter} COLLATE "C")) > 0`).join(' OR ')})`,
};

/** Settings of every connection. */
export function createConfig({ label: _, isTlsOptional: __, ...server }: PostgresAddress): pg.ClientConfig {
  return {
    ...server,
    application_name: 'erp-proxy',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
}

export function createDatabase(config: pg.ClientConfig, label: string): Database {
  let statementsGivenUp = 0;
  const onGivenUp = () => {
    statementsGivenUp++;
    writability.recordTimeout();
  };
  const open = () => openConnectionPool(config, onGivenUp);
  let pool = open();
  let closing: Promise<void> | undefined;

  /** Runs `work` on a connection of the pool. If it fails, the connection is closed: that rolls back in every state. */
  async function useConnection<Result>(
    work: (connection: PooledConnection) => Promise<Result>,
  ): Promise<Result> {
    const connection = await pool.acquire().catch((error: unknown) => throwStoreError(label, error));
    try {
      const result = await work(connection);
      connection.release({ isBroken: false });
      return result;
    } catch (error) {
      connection.release({ isBroken: true });
      throw error;
    }
  }

  async function run(connection: PooledConnection, statement: pg.QueryConfig): Promise<pg.QueryResult> {
    return await connection.run(statement).catch((error: unknown) => {
      writability.recordFailure(error);
      return throwStoreError(label, error);
    });
  }

  function statementsOn(runOne: (statement: pg.QueryConfig) => Promise<pg.QueryResult>): Statements {
    return {
      dialect: DIALECT,
      async query<Row extends object>(text: string, values: readonly unknown[] = [], name?: string) {
        const statement = { text, values: [...values], ...(name === undefined ? {} : { name }) };
        const { rows } = await runOne(statement);
        return rows as Row[];
      },
      async change(text, values = []) {
        const { rowCount } = await runOne({ text, values: [...values] });
        return rowCount ?? 0;
      },
    };
  }

  async function commit(connection: PooledConnection): Promise<void> {
    const { command } = await connection.run({ text: 'COMMIT' }).catch((error: unknown) => {
      writability.recordFailure(error);
      if (isCommitRefused(error)) throwStoreError(label, error);
      return throwUnknownOutcome(label, error);
    });
    if (command !== 'COMMIT') throwStoreError(label, new Error('the transaction was rolled back'));
  }

  function runTransaction<Result>(
    work: (statements: Statements) => Promise<Result>,
    end: (connection: PooledConnection) => Promise<unknown>,
  ): Promise<Result> {
    return useConnection(async (connection) => {
      await run(connection, { text: 'BEGIN' });
      const result = await work(statementsOn((statement) => run(connection, statement)));
      await end(connection);
      return result;
    });
  }

  const database: Database = {
    ...statementsOn((statement) => useConnection((connection) => run(connection, statement))),
    transact: (work) => runTransaction(work, commit),
    inspect: (work) => runTransaction(work, (connection) => run(connection, { text: 'ROLLBACK' })),
    get statementsGivenUp() {
      return statementsGivenUp;
    },
    get trouble() {
      return writability.trouble;
    },
    renew() {
      if (closing !== undefined) return;
      void pool.end();
      pool = open();
    },
    useLogin(login) {
      // A pool that is opened later takes it from here.
      Object.assign(config, login);
      pool.useLogin(login);
    },
    recordReachable: () => writability.recordReachable(),
    close() {
      writability.close();
      closing ??= pool.end();
      return closing;
    },
  };
  const writability = watchWritability(() => database);
  return database;
}

/** Whether the server refused the commit. Errors of the connection or of a shutdown of the server do not prove that. */
function isCommitRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P|58|XX)/.test(error.code ?? 'XX');
}
