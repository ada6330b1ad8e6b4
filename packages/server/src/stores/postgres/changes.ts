/**
 * The feed of changes that any replica makes, received by LISTEN on a separate connection. A connection can die
 * silently, so it is checked by heartbeats. Without a working connection the feed is not watching.
 */

import pg from 'pg';
import { TIMED_OUT, waitFor } from '../../streams/wait.ts';
import type { ChangeListener, Store, StoreChange } from '../ports.ts';
import { endInTime } from './connection-pool.ts';

const HEARTBEAT_MS = 400;
/** Together with the interval less than a second: the maximum time for which a revocation may be missed. */
const HEARTBEAT_TIMEOUT_MS = 500;
const LISTEN_TIMEOUT_MS = 1000;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 1000;

export interface ChangeFeed extends Pick<Store, 'watch' | 'isWatching'> {
  close(): Promise<void>;
}

/** Resolves when it listens. `onLost` is called for each connection that died. */
export async function openChangeFeed(config: pg.ClientConfig, onLost: () => void): Promise<ChangeFeed> {
  const listeners = new Set<ChangeListener>();
  const tell: ChangeListener = (change) => {
    for (const listener of listeners) listener(change);
  };
  let connection: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
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
      const { rows } = await client.query<{ channel: string }>(
        "SELECT 'erp_proxy_' || oid AS channel FROM pg_namespace WHERE nspname = current_schema()",
      );
      await client.query(`LISTEN ${rows[0]?.channel ?? ''}`);
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
      const answer = await waitFor(client.query('SELECT 1'), { timeoutMs: HEARTBEAT_TIMEOUT_MS });
      if (answer === TIMED_OUT) return lose(client);
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
    onLost();
    retry(RETRY_MIN_MS);
  }

  function retry(delayMs: number): void {
    connection = undefined;
    timer = setTimeout(() => {
      listen().catch(() => {
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

function readChange(payload: string): StoreChange | null {
  const [, found, id] = /^(\w+) (.*)$/s.exec(payload) ?? [];
  const kind = KINDS.find((known) => known === found);
  return kind !== undefined && id !== undefined ? { kind, id } : null;
}

const KINDS = [
  'key',
  'instance',
  'subject',
  'subscription',
] as const satisfies readonly StoreChange['kind'][];
