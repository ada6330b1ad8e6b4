/** The statements and transactions of a database, as the parts of the store use them. Must not know a driver. */
import type { AuditBatch } from './ports/audit.ts';

/** Parts of SQL that the engines write differently. */
export interface Dialect {
  /** True: all other operations wait while a statement runs, so long work must be split into several statements. */
  readonly isBlocking: boolean;
  /** Suffix of a query in a transaction: locks the rows that it finds, and waits for rows that are locked. */
  readonly forUpdate: string;
  /** As `forUpdate`, but skips rows that other transactions have locked. */
  readonly skipLocked: string;
  readonly least: string;
  readonly greatest: string;
  /** The current time, of a clock that all processes share. */
  readonly now: string;
  /** The time `now` plus milliseconds. */
  nowPlus(milliseconds: string): string;
  /** A time before every other time. */
  readonly longAgo: string;
  /** Locks the number until the end of the transaction. Other transactions that lock it wait. */
  lock(number: number): string;
  /** Condition: the value of the column is in the list. */
  isIn(column: string, parameter: string): string;
  /** Condition: one of the columns contains the text. Ignores the case of ASCII letters. */
  contains(columns: readonly string[], parameter: string): string;
}

/** Parameters are `$1`, `$2` and so on. */
export interface Statements {
  readonly dialect: Dialect;
  /** Returns the rows. PostgreSQL prepares a statement with a name once for each connection. */
  query<Row extends object>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]>;
  /** Returns the number of rows that the statement changed. */
  change(text: string, values?: readonly unknown[]): Promise<number>;
}

export interface Transactions extends Statements {
  /**
   * `work` may await only its statements. Rejects with an `UnknownOutcomeError` if the answer to the commit does not
   * arrive.
   */
  transact<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
}

export interface StoreDatabase extends Transactions {
  /** As `transact`, and appends `auditBatch` to the audit if `isDone` is true for the result. */
  transactWithAudit<Result>(
    auditBatch: AuditBatch | undefined,
    work: (statements: Statements) => Promise<Result>,
    isDone: (result: Result) => boolean,
  ): Promise<Result>;
}

/** A part of the store may use both connections. */
export interface Databases {
  /** Commits survive a power loss. */
  readonly durable: StoreDatabase;
  /** A power loss may take the last commits. */
  readonly quick: StoreDatabase;
}
