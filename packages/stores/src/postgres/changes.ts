/**
 * The feed of changes that any replica makes, received by LISTEN on a separate connection. A connection can die
 * silently, so it is checked by heartbeats. Without a working connection the feed is not watching.
 */

import { waitFor } from '@erp-proxy/async/tasks';
import pg from 'pg';
import type { ChangeListener, Store, StoreChange } from '../ports/store.ts';
import { StoreError } from '../store-error.ts';
import { endInTime } from './connection-pool.ts';

const HEARTBEAT_MS = 400;
/** With the interval of heartbeats, less than a second: the time for which a revocation may be missed. */
const HEARTBEAT_TIMEOUT_MS = 500;
const LISTEN_TIMEOUT_MS = 1000;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 1000;

export interface ChangeFeed extends Pick<Store, 'watch' | 'isWatching'> {
  close(): Promise<void>;
}

/** Notified of each connection that died, and of each new connection after it. */
export interface ConnectionListener {
  lost(): void;
  found(): void;
}

/** Resolves when the feed listens. */
export async function openChangeFeed(
  config: pg.ClientConfig,
  { lost, found }: ConnectionListener,
): Promise<ChangeFeed> {
  const listeners = new Set<ChangeListener>();
  const tell: ChangeListener = (change) => {
    for (const listener of listeners) listener(change);
  };
  let connection: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Process id of the backend that listens. A pooler in transaction mode may give the connection another backend. */
  let backend = 0;
  let isWatching = false;
  let isClosed = false;

  async function listen(): Promise<void> {
    const client = new pg.Client(config);
    connection = client;
    client.on('error', () => lose(client));
    client.on('end', () => lose(client));
    client.on('notification', ({ payload }) => tell(readChange(payload ?? '')));
    const timeout = setTimeout(() => client.connection.stream.destroy(), LISTEN_TIMEOUT_MS);
    try {
      await client.connect();
      const { rows } = await client.query<{ channel: string; pid: number }>(
        "SELECT 'erp_proxy_' || oid AS channel, pg_backend_pid() AS pid FROM pg_namespace WHERE nspname = current_schema()",
      );
      const { channel = '', pid = 0 } = rows[0] ?? {};
      backend = pid;
      await client.query(`LISTEN ${channel}`);
      await refuseTransactionMode(client, pid, config);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    } finally {
      clearTimeout(timeout);
    }
    if (connection !== client) return;
    isWatching = true;
    timer = setTimeout(beat, HEARTBEAT_MS, client);
    tell(null);
  }

  async function beat(client: pg.Client): Promise<void> {
    try {
      const answer = await waitFor(readBackend(client), { timeoutMs: HEARTBEAT_TIMEOUT_MS });
      if (answer !== backend) return lose(client);
    } catch {
      return lose(client);
    }
    if (connection === client) timer = setTimeout(beat, HEARTBEAT_MS, client);
  }

  function lose(client: pg.Client): void {
    if (connection !== client || !isWatching) return;
    isWatching = false;
    clearTimeout(timer);
    client.connection.stream.destroy();
    lost();
    retry(RETRY_MIN_MS);
  }

  function retry(delayMs: number): void {
    connection = undefined;
    timer = setTimeout(() => {
      listen().then(found, () => {
        if (!isClosed) retry(Math.min(delayMs * 2, RETRY_MAX_MS));
      });
    }, delayMs);
  }

  await listen();
  return {
    watch: (listener) => void listeners.add(listener),
    get isWatching() {
      return isWatching;
    },
    async close() {
      isClosed = true;
      isWatching = false;
      clearTimeout(timer);
      const client = connection;
      connection = undefined;
      if (client !== undefined) await endInTime(client.end(), [client]);
    },
  };
}

async function readBackend(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

/**
 * Throws if the connection goes through a pooler in transaction mode, which gives a backend to each transaction.
 * Notices of changes would then reach other clients, or none. Without a pooler, no query is made.
 */
async function refuseTransactionMode(
  client: pg.Client & { processID?: number | null },
  pid: number,
  config: pg.ClientConfig,
): Promise<void> {
  if (client.processID === pid) return;
  const other = new pg.Client(config);
  other.on('error', () => {});
  try {
    await other.connect();
    // This connection now has the backend that was used last, if the pooler lends that to other clients.
    await other.query('BEGIN');
    await other.query('SELECT 1');
    if ((await readBackend(client)) !== pid) throw new StoreError(TRANSACTION_MODE);
  } finally {
    other.connection.stream.destroy();
  }
}

const TRANSACTION_MODE =
  'it is behind a pooler in transaction mode, which loses notices of changed keys. Connect directly, or set the pooler to session mode.';

function readChange(payload: string): StoreChange | null {
  const [, found, id] = /^(\w+) (.*)$/s.exec(payload) ?? [];
  const kind = KINDS.find((known) => known === found);
  return kind !== undefined && id !== undefined ? { kind, id } : null;
}

const KINDS = [
  'key',
  'instance',
  'connection',
  'consent',
  'subject',
  'subscription',
] as const satisfies readonly StoreChange['kind'][];
