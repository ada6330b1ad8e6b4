import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { passTurns } from '../../../server/test/time.ts';
import { createWire, type Wire } from '../../../server/test/wire.ts';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { Store, StoreChange } from '../ports/store.ts';
import { StoreError } from '../store-error.ts';
import { openChangeFeed } from './changes.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const SECOND_MS = 1000;
const STEP_MS = 20;
/** Enough turns for a wait whose time is over to end, and for a connection that is refused at once to be given up. */
const TURNS = 20;
/** Longer than the pauses between attempts take to reach their maximum. */
const AWAY_SECONDS = 10;

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let wire: Wire;
  /** Connected to the server through `wire`. */
  let store: Store;
  /** Connected to the server directly. */
  let other: Store;
  let told: (StoreChange | null)[];

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    wire = await createWire(schema.url);
    store = await openPostgresStore(wire.url);
    other = await openPostgresStore(schema.url);
    told = [];
    store.watch((change) => told.push(change));
    await other.keys.insert(buildKey({ id: 'a' }));
    await expect.poll(() => told).toEqual([{ kind: 'key', id: 'a' }]);
    told.length = 0;
  });
  afterEach(async () => {
    await store.close();
    await other.close();
    await wire.close();
    await schema.drop();
  });

  test.each(['cut', 'freeze'] as const)(
    'is not watching while the connection is gone (%s), and then reports that anything may have changed',
    async (trouble) => {
      wire[trouble]();
      await expect.poll(() => store.isWatching).toBe(false);
      await other.keys.revoke('a', 5);
      expect(told).toEqual([]);
      wire.restore();
      await expect.poll(() => told).toEqual([null]);
      expect(store.isWatching).toBe(true);
      expect((await store.keys.findById('a'))?.revokedAt).toBe(5);
      await other.keys.insert(buildKey({ id: 'b' }));
      await expect.poll(() => told).toEqual([null, { kind: 'key', id: 'b' }]);
    },
  );

  test('reads over new connections when its present ones are dead', async () => {
    await Promise.all(Array.from({ length: 10 }, () => store.keys.findById('a')));
    wire.lose();
    await expect.poll(() => told).toEqual([null]);
    expect((await store.keys.findById('a'))?.id).toBe('a');
  });

  test('cannot be probed or read while the server is away, and can be afterwards', async () => {
    await store.probe();
    wire.cut();
    await expect((async () => store.probe())()).rejects.toThrow(StoreError);
    await expect((async () => store.keys.findById('a'))()).rejects.toThrow(
      /^The store postgres .* cannot be/,
    );
    wire.restore();
    await expect.poll(() => store.keys.findById('a')).not.toBeNull();
    await store.probe();
  });

  test.each([
    ['cut', 'at once'],
    ['freeze', 'at once'],
    ['cut', 'while it reconnects'],
    ['freeze', 'while it reconnects'],
  ] as const)('can be closed when the server is gone (%s, %s)', async (trouble, moment) => {
    await store.probe();
    wire[trouble]();
    if (moment !== 'at once') await expect.poll(() => store.isWatching).toBe(false);
    await store.close();
    expect(store.isWatching).toBe(false);
  });

  test('the audit has no gap if a connection breaks within an append', async () => {
    const breaking = {
      at: 1,
      get record() {
        wire.cut();
        return '{}';
      },
    };
    await expect((async () => store.audit.append(makeBatch(breaking)))()).rejects.toThrow(StoreError);
    wire.restore();
    await other.audit.append(makeBatch({ at: 1, record: '{}' }));
    expect((await other.audit.readAfter(0, 10)).map((row) => row.seq)).toEqual([1]);
  });
});

describe.skipIf(SERVER_URL === '')('on a clock that the test advances', () => {
  let schema: TestSchema;
  let wire: Wire;
  let told: (StoreChange | null)[];
  let feed: Awaited<ReturnType<typeof openChangeFeed>>;
  /** Number of connections that the feed has opened. */
  let attempts: number;
  /** How often the feed noticed that a connection is dead. */
  let losses: number;
  /** True: connections fail at once, and not after a time that depends on the machine. */
  let isAway: boolean;

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    wire = await createWire(schema.url);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    [attempts, losses, isAway] = [0, 0, false];
    const stream = () => {
      attempts++;
      const socket = new Socket();
      return isAway ? Object.assign(socket, { connect: () => socket.destroy(new Error('away')) }) : socket;
    };
    const lost = () => losses++;
    feed = await openChangeFeed({ connectionString: wire.url, stream }, { lost, found() {} });
    told = [];
    feed.watch((change) => told.push(change));
  });
  afterEach(async () => {
    vi.useRealTimers();
    await feed.close();
    await wire.close();
    await schema.drop();
  });

  /** Like `expect.poll`, but does not advance the clock. */
  const waitUntil = async (holds: () => boolean) => {
    while (!holds()) await passTurns();
  };

  async function advance(ms: number): Promise<void> {
    for (let advancedMs = 0; advancedMs < ms; advancedMs += STEP_MS) {
      await vi.advanceTimersByTimeAsync(STEP_MS);
      await passTurns(TURNS);
    }
  }

  test('a connection that dies silently is noticed, and replaced, within a second', async () => {
    wire.lose();
    expect(feed.isWatching).toBe(true);
    await advance(SECOND_MS);
    // The server answers in real time, so the new connection may already exist.
    expect(losses).toBe(1);
    expect(attempts).toBe(2);
    await waitUntil(() => told.length > 0);
    expect(told).toEqual([null]);
    expect(feed.isWatching).toBe(true);
  });

  test('a server that is away is tried again at least once a second', async () => {
    isAway = true;
    wire.cut();
    await waitUntil(() => !feed.isWatching);
    attempts = 0;
    await advance(AWAY_SECONDS * SECOND_MS);
    expect(attempts).toBeGreaterThanOrEqual(AWAY_SECONDS);
  });
});
