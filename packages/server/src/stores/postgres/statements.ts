/** The statements and transactions of the PostgreSQL database, as the parts of the store use them. */
import type { Statements, Transactions } from '../statements.ts';

export interface Database extends Transactions {
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
