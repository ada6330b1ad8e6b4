/**
 * The pool of connections to PostgreSQL: statements, transactions, time limits. A failure leaves as a
 * {@link StoreError} that names host and database. Knows no table.
 */
import pg from 'pg';
import type { PostgresAddress } from './postgres-address.ts';
import { fail } from './postgres-failures.ts';

/** Parameters of a statement, by position. */
type Values = readonly unknown[];

export interface Statements {
  /** Gives the rows of a statement. One that has a name is parsed once a connection. */
  query<Row extends object>(text: string, values?: Values, name?: string): Promise<Row[]>;
  /** Gives how many rows a statement changed. */
  change(text: string, values?: Values): Promise<number>;
}

export interface Database extends Statements {
  /** All of it or nothing, in one transaction. */
  transact<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Lets go of the connections, which may lead nowhere; further statements make new ones. */
  renew(): void;
  /** May be called twice. */
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_MS = 3000;
const STATEMENT_TIMEOUT_MS = 5000;
/** For a server that went away without a word; later than its own limit, which gives the better reason. */
const ANSWER_TIMEOUT_MS = 6000;
/** A replica that stands still in the middle of a transaction would keep the others from the row that it locked. */
const IDLE_IN_TRANSACTION_MS = 5000;
const CLOSE_TIMEOUT_MS = 2000;

/** What every connection has. */
export function createConfig({ label: _, isTlsOptional: __, ...server }: PostgresAddress): pg.ClientConfig {
  return {
    ...server,
    application_name: 'erp-proxy',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
}

export function createDatabase(config: pg.ClientConfig, label: string): Database {
  let connections = openPool(config);
  let closing: Promise<void> | undefined;
  const statementsOn = (lender: Lender) => createStatements(lender, label);

  return {
    query: (text, values, name) => statementsOn(connections.pool).query(text, values, name),
    change: (text, values) => statementsOn(connections.pool).change(text, values),
    async transact(work) {
      const client = await connections.pool.connect().catch((error: unknown) => fail(label, error));
      const statements = statementsOn(client);
      try {
        await statements.change('BEGIN');
        const result = await work(statements);
        await statements.change('COMMIT');
        client.release();
        return result;
      } catch (error) {
        // Closing the connection rolls back, in whatever state it is.
        client.release(true);
        throw error;
      }
    },
    renew() {
      if (closing !== undefined) return;
      void connections.end();
      connections = openPool(config);
    },
    close() {
      closing ??= connections.end();
      return closing;
    },
  };
}

/** The pool, or a connection that it has lent. */
type Lender = Pick<pg.Pool, 'query'>;

function createStatements(lender: Lender, label: string): Statements {
  return {
    async query<Row extends object>(text: string, values: Values = [], name?: string) {
      const statement = { text, values: [...values], ...(name === undefined ? {} : { name }) };
      const { rows } = await lender.query<Row>(statement).catch((error: unknown) => fail(label, error));
      return rows;
    },
    async change(text, values = []) {
      const { rowCount } = await lender
        .query(text, [...values])
        .catch((error: unknown) => fail(label, error));
      return rowCount ?? 0;
    },
  };
}

function openPool(config: pg.ClientConfig) {
  const pool = new pg.Pool({
    ...config,
    max: CONNECTIONS_MAX,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: { getTypeParser },
  });
  const clients = new Set<pg.Client>();
  pool.on('connect', (client) => {
    clients.add(client);
    client.on('end', () => clients.delete(client));
    // A connection that breaks fails the statement on it; unheard, the event would end the process.
    client.on('error', () => {});
  });
  pool.on('error', () => {});

  return { pool, end: () => endInTime(pool.end(), clients) };
}

/** Ends as it should; connections on which the server no longer answers are cut. */
export async function endInTime(ended: Promise<void>, clients: Iterable<pg.Client>): Promise<void> {
  const timer = setTimeout(() => {
    for (const client of clients) client.connection.stream.destroy();
  }, CLOSE_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/** `bigint` as a number, which holds every time and count here; the driver gives text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format);
