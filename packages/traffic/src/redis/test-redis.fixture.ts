/** For tests: clients of a shared server under their own prefix, directly or through a wire that can break. */

import { expect } from 'vitest';
import { createWire, type Wire } from '../../../server/test/wire.ts';
import { RedisClient } from './client.ts';
import { createTestNames } from './redis.fixture.ts';

/** Time limit for an answer on a busy machine. */
export const PATIENCE_MS = 2_500;
/**
 * Time for which a client of the wire waits for an answer: long enough for a busy machine, and short if no answer
 * comes.
 */
export const WIRE_TIMEOUT_MS = 1_000;

export interface TestRedis {
  prefix: string;
  wire: Wire;
  /**
   * Connects a client to the server, or through the wire if `url` is that of the wire. On a busy machine an answer may
   * take longer than the proxy allows, so clients wait longer.
   */
  connect(url?: string, answerTimeoutMs?: number): Promise<RedisClient>;
  /** Simulates a loss of data: removes all values under the prefix, and all cached scripts. */
  lose(): Promise<void>;
  /** Closes all clients, and removes all values under the prefix. */
  close(): Promise<void>;
}

export async function openTestRedis(serverUrl: string): Promise<TestRedis> {
  const { prefix, lose, drop } = createTestNames(serverUrl);
  const wire = await createWire(serverUrl);
  const clients: RedisClient[] = [];
  return {
    prefix,
    wire,
    async connect(url = serverUrl, answerTimeoutMs = url === serverUrl ? PATIENCE_MS : WIRE_TIMEOUT_MS) {
      const client = new RedisClient({ url, prefix, answerTimeoutMs });
      clients.push(client);
      await client.start();
      // A busy machine may take longer than the time that a start waits.
      await expect.poll(() => client.trouble).toBeNull();
      return client;
    },
    lose,
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await wire.close();
      await drop();
    },
  };
}
