import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildKey } from '../../../test/stores/store-suite.ts';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { Store, StoreChange } from '../ports.ts';
import { StoreError } from '../store-error.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
/** Less than a second on an idle machine. Busy machines get more time. */
const POLL = { timeout: 8000, interval: 10 };

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let wire: Wire;
  /** Goes over the wire. */
  let store: Store;
  /** Goes its own way. */
  let other: Store;
  let told: (StoreChange | null)[];

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    wire = await createWire(new URL(schema.url));
    store = await openPostgresStore(wire.url);
    other = await openPostgresStore(schema.url);
    told = [];
    store.watch((change) => told.push(change));
    await other.keys.insert(buildKey({ id: 'a' }));
    await expect.poll(() => told, POLL).toEqual([{ kind: 'key', id: 'a' }]);
    told.length = 0;
  });
  afterEach(async () => {
    await store.close();
    await other.close();
    await wire.close();
    await schema.drop();
  });

  test.each(['cut', 'freeze'] as const)(
    'knows that it hears nothing when the connection is gone (%s), and says so when it is back',
    async (trouble) => {
      wire[trouble]();
      await expect.poll(() => store.isWatching, POLL).toBe(false);
      await other.keys.revoke('a', 5);
      expect(told).toEqual([]);
      wire.mend();
      await expect.poll(() => told, POLL).toEqual([null]);
      expect(store.isWatching).toBe(true);
      expect((await store.keys.findById('a'))?.revokedAt).toBe(5);
      await other.keys.insert(buildKey({ id: 'b' }));
      await expect.poll(() => told, POLL).toEqual([null, { kind: 'key', id: 'b' }]);
    },
  );

  test('reads over new connections when the ones that it had lead nowhere', async () => {
    await Promise.all(Array.from({ length: 10 }, () => store.keys.findById('a')));
    wire.lose();
    await expect.poll(() => told, POLL).toEqual([null]);
    expect((await store.keys.findById('a'))?.id).toBe('a');
  });

  test('cannot be probed or read while the server is away, and can be afterwards', async () => {
    await store.probe();
    wire.cut();
    await expect((async () => store.probe())()).rejects.toThrow(StoreError);
    await expect((async () => store.keys.findById('a'))()).rejects.toThrow(
      /^The store postgres .* cannot be/,
    );
    wire.mend();
    await expect.poll(() => store.keys.findById('a'), POLL).not.toBeNull();
    await store.probe();
  });

  test.each([
    ['cut', 'at once'],
    ['freeze', 'at once'],
    ['cut', 'while it looks for it'],
    ['freeze', 'while it looks for it'],
  ] as const)('can be closed when the server is gone (%s, %s)', async (trouble, moment) => {
    await store.probe();
    wire[trouble]();
    if (moment !== 'at once') await expect.poll(() => store.isWatching, POLL).toBe(false);
    await store.close();
    expect(store.isWatching).toBe(false);
  });

  test('gives up no record of the audit where a connection breaks off in between', async () => {
    const breaking = {
      at: 1,
      get record() {
        wire.cut();
        return '{}';
      },
    };
    await expect((async () => store.audit.append(makeBatch(breaking)))()).rejects.toThrow(StoreError);
    wire.mend();
    await other.audit.append(makeBatch({ at: 1, record: '{}' }));
    expect((await other.audit.readAfter(0, 10)).map((row) => row.seq)).toEqual([1]);
  });
});

interface Wire {
  /** The address of the store over this wire. */
  url: string;
  /** Connections break, and no new ones are made. */
  cut(): void;
  /** Nothing passes, and nobody is told. */
  freeze(): void;
  /** Nothing passes any more over the connections that there are; new ones work. */
  lose(): void;
  /** What was frozen passes, and new connections work. */
  mend(): void;
  close(): Promise<void>;
}

/** A TCP proxy in front of the server. */
async function createWire(target: URL): Promise<Wire> {
  const pairs = new Set<[Socket, Socket]>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  const server = createServer((near) => {
    if (state === 'cut') return void near.destroy();
    const far = connect(Number(target.port || 5432), target.hostname);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
    if (state === 'open') join(pair);
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(await listen(server));
  return {
    url: url.href,
    cut() {
      state = 'cut';
      for (const [near] of pairs) near.destroy();
    },
    freeze() {
      state = 'frozen';
      for (const pair of pairs) part(pair);
    },
    lose() {
      for (const pair of pairs) part(pair);
    },
    mend() {
      state = 'open';
      for (const pair of pairs) join(pair);
    },
    async close() {
      for (const [near] of pairs) near.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function join([near, far]: [Socket, Socket]): void {
  near.pipe(far);
  far.pipe(near);
}

function part([near, far]: [Socket, Socket]): void {
  near.unpipe(far).pause();
  far.unpipe(near).pause();
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
