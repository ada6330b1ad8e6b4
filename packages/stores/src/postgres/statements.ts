/** The statements and transactions of the PostgreSQL database, as the parts of the store use them. */
import type { Statements, Transactions } from '../statements.ts';
import type { Login } from './connection-pool.ts';

export interface Database extends Transactions {
  /** Runs `work` in a transaction that is rolled back. It may lock rows. */
  inspect<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Number of statements that did not end in time. */
  readonly statementsGivenUp: number;
  /** Reason for operators why changes cannot be written; null: they can, as far as is known. */
  readonly trouble: string | null;
  /** Closes the connections, which may be dead. Later statements open new ones. */
  renew(): void;
  /** Opens further connections with this user and password. */
  useLogin(login: Login): void;
  /** Call this when the server answers on a new connection. */
  recordReachable(): void;
  /** Can be called twice. */
  close(): Promise<void>;
}
