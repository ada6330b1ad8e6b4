/**
 * Connections whose statement did not end when it was cancelled. Each keeps its place in the pool until its backend has
 * ended, so that the number of backends in a hanging server does not grow.
 */
import pg from 'pg';
import { cancelStatement } from './cancel-statement.ts';

const CHECK_INTERVAL_MS = 5000;
const CHECK_TIMEOUT_MS = 2000;

export interface StuckConnections {
  /** `settled` resolves when the statement or the connection has ended. */
  add(client: pg.PoolClient, settled: Promise<unknown>): void;
  close(): void;
}

export function watchStuckConnections(config: pg.ClientConfig): StuckConnections {
  const clients = new Set<pg.PoolClient>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function schedule(): void {
    if (timer !== undefined || isClosed || clients.size === 0) return;
    timer = setTimeout(async () => {
      await check().catch(() => {});
      timer = undefined;
      schedule();
    }, CHECK_INTERVAL_MS).unref();
  }

  /** Cancels the statements again, and closes connections whose backend no longer exists. */
  async function check(): Promise<void> {
    await Promise.all([...clients].map((client) => cancelStatement(config, client)));
    const working = await listWorkingBackends(config);
    for (const client of clients) if (!working.has(readProcessId(client))) client.connection.stream.destroy();
  }

  return {
    add(client, settled) {
      clients.add(client);
      void settled.finally(() => clients.delete(client));
      schedule();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

async function listWorkingBackends(config: pg.ClientConfig): Promise<Set<number>> {
  const client = new pg.Client({ ...config, query_timeout: CHECK_TIMEOUT_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE usename = current_user AND state <> 'idle'",
    );
    return new Set(rows.map(({ pid }) => pid));
  } finally {
    await client.end();
  }
}

function readProcessId(client: pg.PoolClient): number {
  return (client as unknown as { processID: number }).processID;
}
