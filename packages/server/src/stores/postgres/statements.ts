/** The statements and transactions of the PostgreSQL database, as the parts of the store use them. */

/** Positional parameters of a statement. */
export type Values = readonly unknown[];

export interface Statements {
  /** Returns the rows. A statement with a name is prepared once for each connection. */
  query<Row extends object>(text: string, values?: Values, name?: string): Promise<Row[]>;
  /** Returns the number of rows that the statement changed. */
  change(text: string, values?: Values): Promise<number>;
}

export interface Database extends Statements {
  /**
   * Runs `work` in a transaction. Rejects with an `UnknownOutcomeError` if the answer to the commit does not arrive.
   */
  transact<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Runs `work` in a transaction that is rolled back. It may lock rows. */
  inspect<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Number of statements that did not end in time. */
  readonly statementsGivenUp: number;
  /** Why changes cannot be written, for operators; null: they can, as far as is known. */
  readonly trouble: string | null;
  /** Closes the connections, which may be dead. Further statements open new ones. */
  renew(): void;
  /** The server answers on a new connection. */
  noteReachable(): void;
  /** Can be called twice. */
  close(): Promise<void>;
}
