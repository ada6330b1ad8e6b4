/** The statements and transactions of a database, as the parts of the store use them. Must not know a driver. */
import type { AuditBatch } from './ports/audit.ts';

/** Parts of SQL that the engines write differently. */
export interface Dialect {
  /** A statement keeps all others waiting, so that long ones must be several. */
  readonly isBlocking: boolean;
  /** Ends a query in a transaction: others wait for the rows that it finds. */
  readonly forUpdate: string;
  /** The same, and leaves out rows that others have locked. */
  readonly skipLocked: string;
  readonly least: string;
  readonly greatest: string;
  /** The current time, of a clock that all processes share. */
  readonly now: string;
  /** The same plus milliseconds. */
  nowPlus(milliseconds: string): string;
  /** A time before all others. */
  readonly longAgo: string;
  /** Until the end of the transaction, the others with this number wait. */
  lock(number: number): string;
  /** Condition: the text is one of the list. */
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
   * `work` waits for nothing but its statements. Rejects with an `UnknownOutcomeError` if the answer to the commit does
   * not arrive.
   */
  transact<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
}

export interface StoreDatabase extends Transactions {
  /** The same, and appends the act to the audit if `isDone` is true for the result. */
  transactWithAct<Result>(
    act: AuditBatch | undefined,
    work: (statements: Statements) => Promise<Result>,
    isDone: (result: Result) => boolean,
  ): Promise<Result>;
}

/** A part of the store may use one for both. */
export interface Databases {
  /** Commits survive a power loss. */
  readonly durable: StoreDatabase;
  /** A power loss may take the last commits. */
  readonly quick: StoreDatabase;
}
