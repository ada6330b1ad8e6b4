/**
 * Statements and transactions on PostgreSQL. A failure leaves as a {@link StoreError} that names host and database.
 * Knows no table.
 */
import pg from 'pg';
import type { PostgresAddress } from './address.ts';
import { type Loan, openConnections } from './connection-pool.ts';
import { fail, failUnknown } from './failures.ts';
import { createTrouble } from './writability.ts';

/** Parameters of a statement, by position. */
type Values = readonly unknown[];

export interface Statements {
  /** Gives the rows of a statement. One that has a name is parsed once a connection. */
  query<Row extends object>(text: string, values?: Values, name?: string): Promise<Row[]>;
  /** Gives how many rows a statement changed. */
  change(text: string, values?: Values): Promise<number>;
}

export interface Database extends Statements {
  /** All of it or nothing, in one transaction. Rejects with an `UnknownOutcomeError` where the answer to the commit is missing. */
  transact<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** What sees one state of the tables and changes nothing, even where it locks rows. */
  inspect<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Statements that did not end in time, since the start. */
  readonly givenUp: number;
  /** What keeps it from taking changes, for operators; null: nothing. */
  readonly trouble: string | null;
  /** Lets go of the connections, which may lead nowhere; further statements make new ones. */
  renew(): void;
  /** May be called twice. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 3000;

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
  let givenUp = 0;
  const onGivenUp = () => {
    givenUp++;
    trouble.noteHanging();
  };
  const open = () => openConnections(config, onGivenUp);
  let connections = open();
  let closing: Promise<void> | undefined;

  /** The connection is not used again where the work fails: closing it rolls back, in whatever state it is. */
  async function borrow<Result>(work: (loan: Loan) => Promise<Result>): Promise<Result> {
    const loan = await connections.lend().catch((error: unknown) => fail(label, error));
    try {
      const result = await work(loan);
      loan.giveBack(false);
      return result;
    } catch (error) {
      loan.giveBack(true);
      throw error;
    }
  }

  async function run(loan: Loan, statement: pg.QueryConfig): Promise<pg.QueryResult> {
    return await loan.run(statement).catch((error: unknown) => {
      trouble.note(error);
      return fail(label, error);
    });
  }

  function statementsOn(runOne: (statement: pg.QueryConfig) => Promise<pg.QueryResult>): Statements {
    return {
      async query<Row extends object>(text: string, values: Values = [], name?: string) {
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

  async function commit(loan: Loan): Promise<void> {
    const { command } = await loan.run({ text: 'COMMIT' }).catch((error: unknown) => {
      trouble.note(error);
      if (isRefusal(error)) fail(label, error);
      return failUnknown(label, error);
    });
    if (command !== 'COMMIT') fail(label, new Error('the transaction was rolled back'));
  }

  function runTransaction<Result>(
    work: (statements: Statements) => Promise<Result>,
    end: (loan: Loan) => Promise<unknown>,
  ): Promise<Result> {
    return borrow(async (loan) => {
      await run(loan, { text: 'BEGIN' });
      const result = await work(statementsOn((statement) => run(loan, statement)));
      await end(loan);
      return result;
    });
  }

  const database: Database = {
    ...statementsOn((statement) => borrow((loan) => run(loan, statement))),
    transact: (work) => runTransaction(work, commit),
    inspect: (work) => runTransaction(work, (loan) => run(loan, { text: 'ROLLBACK' })),
    get givenUp() {
      return givenUp;
    },
    get trouble() {
      return trouble.reason;
    },
    renew() {
      if (closing !== undefined) return;
      void connections.end();
      connections = open();
    },
    close() {
      trouble.close();
      closing ??= connections.end();
      return closing;
    },
  };
  const trouble = createTrouble(() => database);
  return database;
}

/** The server has said that it does not commit. What it says while it is shut down is no such word. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P|58|XX)/.test(error.code ?? 'XX');
}
