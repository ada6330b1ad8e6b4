/**
 * The pool of connections to PostgreSQL, with the time limits of statements. A statement that takes too long is
 * cancelled. A statement that does not end even then keeps its place in the pool. The number of backends is therefore
 * bounded, whatever the server does.
 */

import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import pg from 'pg';
import { cancelStatement, watchStuckConnections } from './stuck-connections.ts';

const CONNECTIONS_MAX = 10;
const STATEMENT_TIMEOUT_MS = 5000;
/**
 * Limit for an answer: for a server that disappeared silently, and for commits, which the limit in the server does not
 * end.
 */
const ANSWER_TIMEOUT_MS = 6000;
/** Time for a cancelled statement to end. After this time the connection is given up. */
const CANCEL_TIMEOUT_MS = 2000;
/** A replica that is suspended within a transaction would block the others at the rows that it locked. */
const IDLE_IN_TRANSACTION_MS = 5000;
/** If every connection has waited longer than this for an answer, new statements are refused at once. */
const STUCK_MS = 1000;
const CLOSE_TIMEOUT_MS = 2000;

export interface PooledConnection {
  /** Rejects with a "timeout" if the statement does not end in time. */
  run(statement: pg.QueryConfig): Promise<pg.QueryResult>;
  /** `isBroken`: the connection is closed instead of reused. */
  release(options: { isBroken: boolean }): void;
}

export interface ConnectionPool {
  /** Rejects at once if every connection is waiting for the server. */
  acquire(): Promise<PooledConnection>;
  /** Opens further connections with this user and password, and closes each earlier connection after its use. */
  useLogin(login: Login): void;
  end(): Promise<void>;
}

export type Login = Pick<pg.ClientConfig, 'user' | 'password'>;

/** `onGivenUp` is called for each statement that does not end in time. */
export function openConnectionPool(config: pg.ClientConfig, onGivenUp: () => void): ConnectionPool {
  /** The present user and password, and those with which each connection was begun. */
  let present: Login = config;
  const logins = new WeakMap<pg.ClientBase, Login>();
  class PooledClient extends pg.Client {
    constructor(options?: pg.ClientConfig) {
      super(options);
      logins.set(this, present);
    }
  }
  const pool = new pg.Pool({
    ...config,
    Client: PooledClient,
    max: CONNECTIONS_MAX,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: { getTypeParser },
  });
  const clients = new Set<pg.Client>();
  /** Time since which each connection has waited for an answer. */
  const waitingSince = new Map<pg.PoolClient, number>();
  const stuck = watchStuckConnections(config);
  pool.on('connect', (client) => {
    clients.add(client);
    client.on('end', () => clients.delete(client));
    // A broken connection also fails its statement. Without a listener, the event would end the process.
    client.on('error', () => {});
  });
  pool.on('error', () => {});

  function isStuck(): boolean {
    const before = performance.now() - STUCK_MS;
    return (
      waitingSince.size >= CONNECTIONS_MAX && [...waitingSince.values()].every((since) => since < before)
    );
  }

  async function acquire(): Promise<PooledConnection> {
    if (isStuck()) throw new Error('timeout: every connection waits for an answer');
    const client = await pool.connect();
    let isCancelled = false;
    let unanswered: Promise<unknown> | null = null;

    async function run(statement: pg.QueryConfig): Promise<pg.QueryResult> {
      waitingSince.set(client, performance.now());
      const answer = client.query(statement);
      const settled = answer.then(
        () => waitingSince.delete(client),
        () => waitingSince.delete(client),
      );
      if (await isSettledIn(settled, ANSWER_TIMEOUT_MS)) return answer;
      onGivenUp();
      isCancelled = true;
      void cancelStatement(config, client);
      if (await isSettledIn(settled, CANCEL_TIMEOUT_MS)) return answer;
      unanswered = settled;
      throw new Error('timeout: the server does not answer');
    }

    return {
      run,
      release({ isBroken }) {
        // A cancel request may arrive late, and must not cancel another statement.
        if (unanswered === null)
          return client.release(isBroken || isCancelled || logins.get(client) !== present);
        stuck.add(client, unanswered);
        void unanswered.finally(() => client.release(true));
      },
    };
  }

  return {
    acquire,
    useLogin(login) {
      Object.assign(pool.options, login);
      present = login;
    },
    async end() {
      stuck.close();
      const cancel = () =>
        Promise.all([...waitingSince.keys()].map((client) => cancelStatement(config, client)));
      await endInTime(pool.end(), clients, cancel);
    },
  };
}

/**
 * Waits for a regular end. If it takes too long, calls `beforeCut`, and closes connections on which the server does not
 * answer.
 */
export async function endInTime(
  ended: Promise<void>,
  clients: Iterable<pg.Client>,
  beforeCut: () => Promise<unknown> = async () => {},
): Promise<void> {
  if (await isSettledIn(ended, CLOSE_TIMEOUT_MS)) return;
  await beforeCut();
  await isSettledIn(ended, CUT_AFTER_CANCEL_MS);
  for (const client of clients) client.connection.stream.destroy();
  await ended;
}

const CUT_AFTER_CANCEL_MS = 200;

async function isSettledIn(settled: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return (await waitFor(settled, { timeoutMs })) !== TIMED_OUT;
}

/** Reads `bigint`, which the driver returns as text, as a number: every time and count here fits into one. */
const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format);
