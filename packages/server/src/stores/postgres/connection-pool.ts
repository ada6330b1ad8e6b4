/**
 * The pool of connections to PostgreSQL. It keeps the time limits of statements: what takes longer is cancelled, and
 * what does not end then keeps its connection, so that the number of backends is bounded whatever the server does.
 */
import pg from 'pg';
import { TIMED_OUT, waitFor } from '../../streams/wait.ts';
import { cancelStatement } from './cancel-statement.ts';
import { watchStuck } from './stuck-connections.ts';

const CONNECTIONS_MAX = 10;
const STATEMENT_TIMEOUT_MS = 5000;
/** For a server that went away without a word, and for commits, which the server's own limit does not end. */
const ANSWER_TIMEOUT_MS = 6000;
/** From the request to cancel until the connection is given up. */
const CANCEL_TIMEOUT_MS = 2000;
/** A replica that stands still in the middle of a transaction would keep the others from the row that it locked. */
const IDLE_IN_TRANSACTION_MS = 5000;
/** Where every connection has waited longer for an answer, nobody else waits for a connection. */
const PATIENCE_MS = 1000;
const CLOSE_TIMEOUT_MS = 2000;

/** A connection that is lent. */
export interface Loan {
  /** Rejects with a "timeout" where the statement does not end in time. */
  run(statement: pg.QueryConfig): Promise<pg.QueryResult>;
  /** `isSpent`: it is not to be used again. */
  giveBack(isSpent: boolean): void;
}

export interface Connections {
  /** Rejects at once where every connection waits for an answer of the server. */
  lend(): Promise<Loan>;
  end(): Promise<void>;
}

/** `onGivenUp` is told of each statement that did not end in time. */
export function openConnections(config: pg.ClientConfig, onGivenUp: () => void): Connections {
  const pool = new pg.Pool({
    ...config,
    max: CONNECTIONS_MAX,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: { getTypeParser },
  });
  const clients = new Set<pg.Client>();
  /** Since when each waits for an answer. */
  const waitingSince = new Map<pg.PoolClient, number>();
  const stuck = watchStuck(config);
  pool.on('connect', (client) => {
    clients.add(client);
    client.on('end', () => clients.delete(client));
    // A connection that breaks fails the statement on it; unheard, the event would end the process.
    client.on('error', () => {});
  });
  pool.on('error', () => {});

  function isHanging(): boolean {
    const longAgo = performance.now() - PATIENCE_MS;
    return (
      waitingSince.size >= CONNECTIONS_MAX && [...waitingSince.values()].every((since) => since < longAgo)
    );
  }

  async function lend(): Promise<Loan> {
    if (isHanging()) throw new Error('timeout: every connection waits for an answer');
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
      giveBack(isSpent) {
        // A request to cancel may arrive late, and must not meet the statement of somebody else.
        if (unanswered === null) return client.release(isSpent || isCancelled);
        stuck.add(client, unanswered);
        void unanswered.finally(() => client.release(true));
      },
    };
  }

  return {
    lend,
    async end() {
      stuck.close();
      const cancel = () =>
        Promise.all([...waitingSince.keys()].map((client) => cancelStatement(config, client)));
      await endInTime(pool.end(), clients, cancel);
    },
  };
}

/** Ends as it should; connections on which the server no longer answers are cut, after what `beforeCut` does. */
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

/** `bigint` as a number, which holds every time and count here; the driver gives text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format);
