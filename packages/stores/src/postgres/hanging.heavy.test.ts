/** Tests of statements that hang in a PostgreSQL server: how many backends they hold, and which errors callers get. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Cluster, clusterMissing, startCluster } from '../../../server/test/postgres-cluster.ts';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { pause } from '../../../server/test/time.ts';
import { countTurns } from '../../../server/test/watch-turns.ts';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { Store } from '../ports/store.ts';
import { openPostgresStore } from './store.ts';

/** The limit that docs/postgresql.md promises. */
const BACKENDS_MAX = 12;
/** Maximum number of connections of the pool. */
const CONNECTIONS = 10;
/** One key for each caller: callers that change the same row would wait for its lock and not for the commit. */
const IDS = Array.from({ length: 15 }, (_, index) => `k${index}`);

describe.skipIf(clusterMissing !== null)(`a server of its own (${clusterMissing ?? 'found'})`, () => {
  let cluster: Cluster;
  let admin: pg.Client;
  let store: Store;

  beforeAll(async () => {
    cluster = await startCluster();
    admin = new pg.Client(cluster.url);
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await cluster.stop();
  });

  beforeEach(async () => {
    store = await openPostgresStore(cluster.url);
    for (const id of IDS) await store.keys.insert(buildKey({ id }));
  });
  afterEach(async () => {
    await setStandby('');
    await store.close();
    await admin.query('TRUNCATE client_keys, audit; UPDATE audit_chain SET head_seq = 0, floor_seq = 0');
  });

  /** Sets the synchronous standby. The name of a missing one makes every commit hang. */
  async function setStandby(name: string): Promise<void> {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await admin.query('SELECT pg_reload_conf()');
    await expect
      .poll(async () => (await admin.query('SHOW synchronous_standby_names')).rows)
      .toEqual([{ synchronous_standby_names: name }]);
  }

  async function countBackends(): Promise<number> {
    const { rows } = await admin.query("SELECT FROM pg_stat_activity WHERE application_name = 'erp-proxy'");
    return rows.length;
  }

  async function listHanging(): Promise<unknown[]> {
    return (await admin.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).rows;
  }

  async function touch({ keys }: Store, id: string, time: number): Promise<void> {
    await keys.touch(new Map([[id, time]]));
  }

  test('commits that hang use no more backends than the pool has', async () => {
    await setStandby('away');
    let isOver = false;
    const callers = IDS.map(async (id) => {
      for (let time = 1; !isOver; time++) {
        await touch(store, id, time).catch(() => {});
        await pause();
      }
    });
    let most = 0;
    // Waits until a commit was given up in each place of the pool, and one more.
    for (; (store.statementsGivenUp ?? 0) <= CONNECTIONS; await pause())
      most = Math.max(most, await countBackends());
    await setStandby('');
    isOver = true;
    await Promise.all(callers);
    expect(most).toBeLessThanOrEqual(BACKENDS_MAX);
    await touch(store, 'k0', 1e9);
    expect((await store.keys.findById('k0'))?.lastUsedAt).toBe(1e9);
    await expect.poll(countBackends).toBeLessThanOrEqual(BACKENDS_MAX - 1);
  });

  test('a commit that hangs is ended, and the audit has its records once', async () => {
    await setStandby('away');
    const batch = makeBatch({ at: 1, record: '{"n":1}' }, { at: 1, record: '{"n":2}' });
    await store.audit.append(batch);
    await setStandby('');
    await store.audit.append(batch);
    await store.audit.append(makeBatch({ at: 2, record: '{}' }));
    const rows = await store.audit.readAfter(0, 10);
    expect(rows.map(({ record }) => record)).toEqual(['{"n":1}', '{"n":2}', '{}']);
  });

  test('no backends are added to ones that do not end when cancelled', async () => {
    // The backends wait for a lock first and are then stopped, so that their own time limits do not run.
    const locker = new pg.Client(cluster.url);
    await locker.connect();
    await locker.query('BEGIN; LOCK TABLE client_keys');
    const first = IDS.slice(0, CONNECTIONS).map((id) =>
      touch(store, id, 7).catch((error: Error) => error.message),
    );
    const listWaiting = async () =>
      (
        await admin.query(
          "SELECT pid FROM pg_stat_activity WHERE application_name = 'erp-proxy' AND wait_event_type = 'Lock'",
        )
      ).rows;
    await expect.poll(listWaiting).toHaveLength(CONNECTIONS);
    const pids = (await listWaiting()).map(({ pid }) => Number(pid));
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      for (const message of await Promise.all(first)) expect(message).toContain('does not answer in time');
      const turns = await countTurns(async () => {
        await expect(touch(store, 'k0', 8)).rejects.toThrow('does not answer');
        await expect((async () => store.probe())()).rejects.toThrow('does not answer');
      });
      // The calls are refused at once: no wait ends in so few turns of the event loop.
      expect(turns).toBeLessThan(100);
      expect(await countBackends()).toBeLessThanOrEqual(BACKENDS_MAX);
      expect(store.statementsGivenUp).toBe(CONNECTIONS);
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      await locker.end();
    }
    await expect
      .poll(() =>
        touch(store, 'k0', 9).then(
          () => 'ok',
          () => 'failed',
        ),
      )
      .toBe('ok');
    await expect.poll(countBackends).toBeLessThanOrEqual(BACKENDS_MAX - 1);
  });

  test('a closed store leaves no hanging commit behind', async () => {
    const other = await openPostgresStore(cluster.url);
    await setStandby('away');
    const hanging = IDS.slice(0, 5).map((id) => touch(other, id, 5).catch(() => {}));
    await expect.poll(listHanging).toHaveLength(5);
    await other.close();
    await Promise.all(hanging);
    await expect.poll(listHanging).toEqual([]);
  });
});
