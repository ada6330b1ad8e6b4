/**
 * Connections whose statement did not end when it was cancelled. Each keeps its place in the pool until its backend has
 * ended, so that the number of backends in a hanging server does not grow.
 */

import { waitFor } from '@erp-proxy/async/tasks';
import pg from 'pg';

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

/** Members of the driver that its types omit. */
interface RawConnection extends pg.Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

interface BackendKey {
  processID: number;
  secretKey: number;
}

const TIMEOUT_MS = 2000;

/**
 * Asks a PostgreSQL server to cancel the statement of a connection. The request uses a separate connection, which
 * needs no password and does not count towards a limit of the server. A backend that waits for a standby then ends its
 * commit: the commit is made, but not confirmed by the standby. Resolves when the server has received the request, or
 * cannot be reached. The result appears on the connection itself.
 */
export async function cancelStatement(config: pg.ClientConfig, client: pg.ClientBase): Promise<void> {
  const { processID, secretKey } = client as unknown as BackendKey;
  const connection = new pg.Connection(config) as RawConnection;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const send = () => connection.cancel(processID, secretKey);
  connection.on('connect', () => (config.ssl ? connection.requestSsl() : send()));
  connection.on('sslconnect', send);
  connection.on('error', () => resolve());
  connection.on('end', () => resolve());
  connect(connection, config);
  await waitFor(ended, { timeoutMs: TIMEOUT_MS });
  connection.stream.destroy();
}

function connect(connection: RawConnection, { host = '', port = 0 }: pg.ClientConfig): void {
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
