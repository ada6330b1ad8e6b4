/** Another user for the same database, taken over while statements run. */
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listenOnFreePort } from '../../../server/test/listen.ts';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import type { Store } from '../ports/store.ts';
import { StoreError } from '../store-error.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let store: Store;
  let role: string;

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    store = await openPostgresStore(schema.url);
    role = `erp_proxy_test_${randomBytes(6).toString('hex')}`;
    await schema.query(`CREATE ROLE ${role} LOGIN`);
  });
  afterEach(async () => {
    await store.close();
    await schema.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await schema.drop();
  });

  function withUser(user: string): string {
    const url = new URL(schema.url);
    url.username = user;
    url.password = 'hunter2';
    return url.href;
  }

  /** Users of the connections to this schema, other than those of the test. */
  async function listUsers(): Promise<unknown[]> {
    const rows = await schema.query(
      `SELECT DISTINCT usename AS name FROM pg_stat_activity WHERE application_name = 'erp-proxy' AND usename = '${role}'`,
    );
    return rows.map(({ name }) => name);
  }

  const grant = () =>
    schema.query(
      `GRANT USAGE ON SCHEMA ${/search_path=(\w+)/.exec(decodeURIComponent(schema.url))?.[1]} TO ${role};
       GRANT ALL ON ALL TABLES IN SCHEMA ${/search_path=(\w+)/.exec(decodeURIComponent(schema.url))?.[1]} TO ${role}`,
    );

  test('new connections have the new user, and statements in flight end on their connections', async () => {
    await grant();
    const slow = Array.from({ length: 30 }, (_, at) => store.keys.insert(buildKey({ id: `key${at}` })));
    await store.takeLogin?.(withUser(role));
    await Promise.all(slow);
    // Each connection of the old user serves at most one more statement.
    for (let round = 0; round < 30; round++) await store.keys.findById(`key${round}`);
    expect(await store.keys.findById('key29')).not.toBeNull();
    expect(await listUsers()).toEqual([role]);
  });

  test('a connection that was begun with the earlier user, and opens after the change, serves one statement', async () => {
    await grant();
    const gate = await startGate(schema.url);
    const gated = await openPostgresStore(gate.url);
    try {
      gate.hold();
      const slow = Array.from({ length: 30 }, (_, at) => gated.keys.insert(buildKey({ id: `key${at}` })));
      await expect.poll(() => gate.held).toBeGreaterThanOrEqual(5);
      const begun = gate.held;
      gate.stopHolding();
      const other = new URL(gate.url);
      other.username = role;
      await gated.takeLogin?.(other.href);
      expect(gate.held).toBe(begun);
      gate.open();
      await Promise.all(slow);
      for (let round = 0; round < 30; round++) await gated.keys.findById(`key${round}`);
      expect(await listUsers()).toEqual([role]);
    } finally {
      await gated.close();
      gate.close();
    }
  });

  test('changes nothing if the server refuses the user, or the user may not change the tables', async () => {
    for (const user of ['erp_proxy_test_nobody', role]) {
      const error = await store.takeLogin?.(withUser(user)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StoreError);
      expect(String(error)).not.toContain('hunter2');
    }
    await store.keys.insert(buildKey({ id: 'a' }));
    expect(await store.keys.findById('a')).not.toBeNull();
    expect(await listUsers()).toEqual([]);
  });

  test.each([
    ['another host', (url: URL) => Object.assign(url, { hostname: '127.0.0.2' })],
    ['another database', (url: URL) => Object.assign(url, { pathname: '/other' })],
    ['other settings of the session', (url: URL) => url.searchParams.delete('options')],
    ['another mode of TLS', (url: URL) => url.searchParams.set('sslmode', 'require')],
    ['no host', (url: URL) => Object.assign(url, { href: 'postgres:///x' })],
  ])('refuses a URL with %s', async (_, change) => {
    const url = new URL(withUser(role));
    change(url);
    await expect(store.takeLogin?.(url.href)).rejects.toThrow(StoreError);
  });
});

/** Forwards connections to a server, and can hold new ones back. `url`: that of the server, at the gate. */
async function startGate(serverUrl: string) {
  const url = new URL(serverUrl);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let isHolding = false;
  const gate = createServer((socket) => {
    const pass = () => {
      const forward = connect(Number(port || 5432), hostname);
      for (const each of [socket, forward]) sockets.add(each.on('error', () => {}));
      socket.on('close', () => forward.destroy()).pipe(forward);
      forward.on('close', () => socket.destroy()).pipe(socket);
    };
    if (isHolding) held.push(pass);
    else pass();
  });
  const at = await listenOnFreePort(gate);
  Object.assign(url, { hostname: '127.0.0.1', port: String(at) });
  return {
    url: url.href,
    /** Number of connections that are held back. */
    get held() {
      return held.length;
    },
    hold() {
      isHolding = true;
    },
    /** Passes further connections on. */
    stopHolding() {
      isHolding = false;
    },
    /** Passes on the connections that were held back. */
    open() {
      for (const pass of held) pass();
    },
    close() {
      gate.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
