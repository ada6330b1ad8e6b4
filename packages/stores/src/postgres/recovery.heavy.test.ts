/**
 * `/readyz` is `ready` within five seconds after PostgreSQL is back: the store then watches and has no trouble. The
 * timers of the proxy run on a clock that the test sets, and more slowly than the real one. The tests therefore measure
 * intervals and time limits, and the speed of the machine hardly counts.
 */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { send, startProxy } from '../../../server/test/harness.ts';
import { type Cluster, clusterMissing, startCluster } from '../../../server/test/postgres-cluster.ts';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { MOMENT_MS, pause } from '../../../server/test/time.ts';
import { createWire, type Wire } from '../../../server/test/wire.ts';
import type { Store } from '../ports/store.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
/** Sum of the intervals and time limits. The rest of the five seconds is for the work itself. */
const READY_MS = 3000;
const AWAY_MS = 5000;
const STEP_MS = MOMENT_MS / 2;

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let wire: Wire;
  let store: Store;
  let locker: pg.Client;

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    wire = await createWire(schema.url);
    locker = new pg.Client({ connectionString: schema.url });
    await locker.connect();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    store = await openPostgresStore(wire.url);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await locker.end();
    await wire.close();
    await store.close();
    await schema.drop();
  });

  /** Advances the clock until the condition holds, and returns the advanced time. */
  async function passUntil(isMet: () => unknown): Promise<number> {
    for (let passedMs = 0; ; passedMs += STEP_MS) {
      if (await isMet()) return passedMs;
      await passStep();
    }
  }

  async function passStep(): Promise<void> {
    await vi.advanceTimersByTimeAsync(STEP_MS);
    await pause();
  }

  const isReady = () => store.isWatching && store.trouble === null;

  /** Makes the store report a full disk of the server. */
  async function causeTrouble(): Promise<void> {
    await schema.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON client_keys FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    await expect((async () => store.keys.insert(buildKey({ id: 'b' })))()).rejects.toThrow();
    expect(store.trouble).toContain('disk is full');
  }

  test.each(['cut', 'freeze'] as const)('after an outage (%s)', async (outage) => {
    wire[outage]();
    await passUntil(() => !store.isWatching);
    for (let awayMs = 0; awayMs < AWAY_MS; awayMs += STEP_MS) await passStep();
    wire.restore();
    expect(await passUntil(isReady)).toBeLessThan(READY_MS);
    await store.probe();
  });

  test('after its storage took no changes, while an attempt hangs on a connection that died silently', async () => {
    await causeTrouble();
    await locker.query('BEGIN; LOCK TABLE idempotency_keys');
    const waiting = () =>
      schema.query('SELECT FROM pg_locks JOIN pg_class c ON c.oid = relation WHERE NOT granted');
    await passUntil(async () => (await waiting()).length > 0);
    wire.lose();
    await locker.query('ROLLBACK');
    expect(await passUntil(isReady)).toBeLessThan(READY_MS);
  });
});

describe.skipIf(clusterMissing !== null)(`a server of its own (${clusterMissing ?? 'found'})`, () => {
  test('after a crash of the server, /readyz is ready and keys can be changed, without a restart', async () => {
    const cluster: Cluster = await startCluster();
    closeAfterTest({ close: () => cluster.stop() });
    const proxy = closeAfterTest(await startProxy({ settings: { 'store.url': cluster.url } }));
    const read = async () => JSON.parse((await send(`${proxy.url}/readyz`)).body.toString()).status;
    expect(await read()).toBe('ready');
    for (let crash = 0; crash < 2; crash++) {
      await cluster.restart();
      await expect.poll(read).toBe('ready');
      await proxy.app.keys.create({ name: `after crash ${crash}` });
    }
  });
});
