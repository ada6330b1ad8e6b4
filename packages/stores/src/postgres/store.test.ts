import { connect, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listenOnFreePort } from '../../../server/test/listen.ts';
import {
  buildKey,
  CLIENTS_OF_ROTATED_KEYS,
  describeStore,
  listClients,
  ROTATED_KEYS,
} from '../../../server/test/stores/store-suite.ts';
import { pause } from '../../../server/test/time.ts';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { Store } from '../ports/store.ts';
import { StoreError } from '../store-error.ts';
import { createTestSchema, keepRows, type TestSchema } from './database.fixture.ts';
import { IDLE_TIMEOUT_MS } from './migrations.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
/** A lease of this duration has expired after twice that time. */
const SHORT_MS = 5;
/**
 * A read waits while the migration waits for a lock, which is at most a second. This limit is longer, for a busy
 * machine, and shorter than a whole migration may take.
 */
const READ_MAX_MS = 10_000;

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let restore: () => Promise<void>;
  let opened: Store[] = [];

  beforeAll(async () => {
    schema = await createTestSchema(SERVER_URL);
    await (await openPostgresStore(schema.url)).close();
    restore = await keepRows(schema);
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    opened = [];
    await schema.query('DROP FUNCTION IF EXISTS refuse CASCADE');
    await restore();
  });
  afterAll(() => schema.drop());

  describeStore({
    name: 'PostgreSQL',
    async open() {
      const store = await openPostgresStore(schema.url);
      opened.push(store);
      return store;
    },
    shared: {
      refuseAudit: () =>
        schema.query(`
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no audit today'; END $$;
          CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()`),
    },
  });
});

describe.skipIf(SERVER_URL === '')('in a schema of its own on that server', () => {
  let schema: TestSchema;
  let opened: Store[];

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await schema.drop();
  });

  /** Makes the schema as a release with version 4 has left it. */
  async function makeVersion4(): Promise<void> {
    const store = await open();
    for (const key of ROTATED_KEYS) await store.keys.insert(buildKey(key));
    await store.close();
    await schema.query(`
      DROP INDEX client_keys_by_expiry;
      ALTER TABLE client_keys DROP COLUMN client_id;
      ALTER TABLE client_keys DROP COLUMN created_by;
      DROP TABLE call_counts;
      DROP TABLE approvals;
      DROP TABLE denied_subjects;
      DROP TABLE statistics;
      DROP TABLE watched_ids;
      DROP TABLE subscriptions;
      DROP TABLE deliveries;
      ALTER TABLE client_keys DROP COLUMN person;
      DROP TABLE connections;
      DROP FUNCTION tell_connection;
      DROP TABLE operator_tokens;
      DROP TABLE operators;
      DROP TABLE ended_sessions;
      DROP TABLE sign_in_objects;
      DROP TABLE consents;
      DROP TABLE job_parts;
      DROP TABLE jobs;
      DROP TABLE audit_sinks;
      DELETE FROM erp_proxy_migrations WHERE version > 4`);
  }

  test('a new lease removes those that have expired', async () => {
    const [one, two] = [await open(), await open()];
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        (index % 2 === 0 ? one : two).leases.acquire(`notice ${index}`, 'one', SHORT_MS),
      ),
    );
    await pause(2 * SHORT_MS);
    await one.leases.acquire('later', 'two', 60_000);
    expect(await schema.query('SELECT name FROM leases')).toEqual([{ name: 'later' }]);
  });

  test('waits of all subscriptions end earlier, or those of none', async () => {
    const { subscriptions } = await open();
    await subscriptions.holdShards('this', { ttlMs: 60_000, latestMs: 60_000 });
    for (const id of ['s', 't']) {
      await subscriptions.insert({ id, name: id, body: '{}', createdAt: 0 }, 9);
      const deliveries = [{ id: `${id}1`, record: '1', type: 'ping', body: '{}' }];
      await subscriptions.commitReading('this', id, 0, { progress: '{}', now: 9_000_000, deliveries });
    }
    await schema.query(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
      CREATE TRIGGER fail BEFORE UPDATE ON deliveries
        FOR EACH ROW WHEN (OLD.subscription = 't') EXECUTE FUNCTION fail();
    `);
    await expect(subscriptions.advanceWaits([0], 31_000, 3_600_000)).rejects.toThrow('no');
    const waits = 'SELECT subscription, next_at FROM deliveries ORDER BY subscription';
    expect(await schema.query(waits)).toEqual([
      { subscription: 's', next_at: '9000000' },
      { subscription: 't', next_at: '9000000' },
    ]);
    await schema.query('DROP TRIGGER fail ON deliveries');
    await subscriptions.advanceWaits([0], 31_000, 3_600_000);
    expect(await schema.query(waits)).toEqual([
      { subscription: 's', next_at: '5400000' },
      { subscription: 't', next_at: '5400000' },
    ]);
  });

  test('is migrated once if ten replicas open an empty schema at the same moment', async () => {
    const stores = await Promise.all(Array.from({ length: 10 }, () => open()));
    expect(stores.map(({ migration }) => migration?.from).sort()).toEqual([0, ...Array(9).fill(20)]);
    expect(await schema.query('SELECT version FROM erp_proxy_migrations')).toEqual([
      { version: 1 },
      { version: 2 },
      { version: 3 },
      { version: 4 },
      { version: 5 },
      { version: 6 },
      { version: 7 },
      { version: 8 },
      { version: 9 },
      { version: 10 },
      { version: 11 },
      { version: 12 },
      { version: 13 },
      { version: 14 },
      { version: 15 },
      { version: 16 },
      { version: 17 },
      { version: 18 },
      { version: 19 },
      { version: 20 },
    ]);
    const secrets = await Promise.all(
      stores.map(({ keys }, index) => keys.getOrCreateHashSecret(new Uint8Array(32).fill(index))),
    );
    expect(new Set(secrets.map((secret) => Buffer.from(secret).toString('hex'))).size).toBe(1);
  });

  test('finds the client of each key that a schema of version 4 has', async () => {
    await makeVersion4();
    const migrated = await open();
    expect(migrated.migration?.from).toBe(4);
    expect(await listClients(migrated)).toEqual(CLIENTS_OF_ROTATED_KEYS);
  });

  test('is migrated after a backup that runs, and others can read meanwhile', async () => {
    await makeVersion4();
    const backup = new pg.Client({ connectionString: schema.url });
    await backup.connect();
    try {
      await backup.query('BEGIN; SELECT FROM client_keys');
      const opening = open();
      const waits = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'client_keys'::regclass`;
      await expect.poll(() => schema.query(waits)).toHaveLength(1);
      await schema.query(`SET statement_timeout = ${READ_MAX_MS}`);
      expect(await schema.query('SELECT FROM client_keys')).toHaveLength(ROTATED_KEYS.length);
      await backup.query('COMMIT');
      expect((await opening).migration?.from).toBe(4);
    } finally {
      await backup.end();
    }
  });

  test('a process that stops within the migration does not block the others for good', async () => {
    await makeVersion4();
    const target = new URL(schema.url);
    let isStopped = false;
    const relay = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      far.on('data', (bytes) => near.write(bytes));
      near.on('data', (bytes) => {
        if (!isStopped) far.write(bytes);
        if (bytes.includes('ALTER TABLE client_keys')) isStopped = true;
      });
      for (const [socket, peer] of [[near, far] as const, [far, near] as const])
        socket.on('error', () => {}).on('close', () => peer.destroy());
    });
    const stopped = new URL(schema.url);
    stopped.host = `127.0.0.1:${await listenOnFreePort(relay)}`;
    const opening = openPostgresStore(stopped.href).catch((error: unknown) => error);
    try {
      await expect.poll(() => isStopped).toBe(true);
      await schema.query(`SET statement_timeout = ${3 * IDLE_TIMEOUT_MS}`);
      expect(await schema.query('SELECT FROM client_keys')).toHaveLength(ROTATED_KEYS.length);
      expect(await opening).toBeInstanceOf(StoreError);
    } finally {
      relay.close();
    }
    expect((await open()).migration?.from).toBe(4);
  });

  test('takes a key that an earlier release inserts for the first of its client', async () => {
    const store = await open();
    await schema.query(`
      INSERT INTO client_keys (id, name, secret_hash, created_at, replaces, version)
      VALUES ('b', 'shop', decode(repeat('00', 32), 'hex'), 1, 'a', 1)`);
    expect(await store.keys.findById('b')).toMatchObject({ clientId: 'b', replaces: 'a' });
  });

  test('reports only changes in its own schema, not in another one of the database', async () => {
    const otherSchema = await createTestSchema(SERVER_URL);
    const store = await open();
    const other = await openPostgresStore(otherSchema.url);
    try {
      const told: unknown[] = [];
      store.watch((change) => told.push(change));
      await other.keys.insert(buildKey({ id: 'theirs' }));
      await store.keys.insert(buildKey({ id: 'ours' }));
      await expect.poll(() => told).toEqual([{ kind: 'key', id: 'ours' }]);
    } finally {
      await other.close();
      await otherSchema.drop();
    }
  });

  test('reports a change that an operator makes by hand', async () => {
    const store = await open();
    await store.keys.insert(buildKey({ id: 'a' }));
    const told: unknown[] = [];
    store.watch((change) => told.push(change));
    await schema.query('UPDATE client_keys SET revoked_at = 5');
    await expect.poll(() => told).toContainEqual({ kind: 'key', id: 'a' });
  });

  test('finds nothing by a text that the database cannot store', async () => {
    const { keys, instances } = await open();
    expect(await keys.findById('a\0')).toBeNull();
    expect(await keys.list({ after: null, limit: 1, name: 'a\0' })).toEqual([]);
    expect(await keys.list({ after: null, limit: 1, search: 'a\0' })).toEqual([]);
    expect(await instances.findByName('a\0')).toBeNull();
    expect(await instances.list({ after: 'a\0', limit: 1 })).toEqual([]);
  });

  test('searches an audit with records that jsonb cannot represent', async () => {
    const { audit } = await open();
    const dbs = ['\0', '\ud800', '\\u0000', '\\\0', '\\\\ud800', '🛒'];
    await audit.append(
      makeBatch(
        ...dbs.map((db) => ({ at: 1, record: JSON.stringify({ db, model: `model ${db}`, kind: 'call' }) })),
      ),
    );
    const query = { beforeSeq: null, limit: 10, scanMax: 10 };
    expect((await audit.search({ ...query, filters: { kind: 'call' } })).rows).toHaveLength(dbs.length);
    for (const [index, db] of dbs.entries()) {
      const { rows } = await audit.search({ ...query, filters: { model: `model ${db}` } });
      expect(rows.map((row) => row.seq)).toContain(index + 1);
    }
  });

  test('can search an audit without the row of its ends, but not append to it', async () => {
    const { audit } = await open();
    await audit.append(makeBatch({ at: 1, record: '{"kind":"call"}' }, { at: 1, record: '{}' }));
    await schema.query('DELETE FROM audit_chain');
    expect([await audit.readHead(), await audit.readFloor()]).toEqual([null, null]);
    const query = { beforeSeq: null, limit: 10, scanMax: 10, filters: {} };
    expect((await audit.search(query)).rows.map(({ seq }) => seq)).toEqual([2, 1]);
    expect((await audit.search({ ...query, filters: { kind: 'call' } })).rows).toHaveLength(1);
    expect(await audit.prune(9, 9)).toBe(0);
    await expect((async () => audit.append(makeBatch({ at: 2, record: '{}' })))()).rejects.toThrow(
      'audit_chain has lost its row',
    );
  });

  test('reads a key, a page of keys and the keys of a name without reading other rows', async () => {
    const store = await open();
    await schema.query(
      `ALTER TABLE client_keys DISABLE TRIGGER USER;
       INSERT INTO client_keys (id, name, secret_hash, created_at, version)
         SELECT 'k' || n, 'name ' || n, decode(repeat('00', 32), 'hex'), n, 1 FROM generate_series(1, 100000) AS n;
       ANALYZE client_keys;`,
    );
    const before = await readCounts();
    expect(await store.keys.isEmpty()).toBe(false);
    expect((await store.keys.findById('k77777'))?.createdAt).toBe(77_777);
    expect((await store.keys.list({ after: null, limit: 2 })).map((key) => key.id)).toEqual(['k1', 'k2']);
    const after = { createdAt: 50_000, id: 'k50000' };
    expect((await store.keys.list({ after, limit: 1 })).map((key) => key.id)).toEqual(['k50001']);
    expect(await store.keys.list({ after: null, limit: 1, name: 'name 5' })).toHaveLength(1);
    // Sessions report their statistics when they end.
    await store.close();
    await expect.poll(readScans).toBeGreaterThanOrEqual(before.scans + 4);
    const counts = await readCounts();
    expect(counts.rows - before.rows).toBeLessThan(100);

    async function readCounts(): Promise<{ scans: number; rows: number }> {
      const [counted] = await schema.query(
        `SELECT idx_scan AS scans, seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_user_tables
         WHERE relname = 'client_keys' AND schemaname = current_schema()`,
      );
      return { scans: Number(counted?.['scans']), rows: Number(counted?.['rows']) };
    }
    async function readScans(): Promise<number> {
      return (await readCounts()).scans;
    }
  });

  describe('refuses with a clear error', () => {
    test('a schema of a newer version, and does not change it', async () => {
      await (await open()).close();
      await schema.query('INSERT INTO erp_proxy_migrations VALUES (999)');
      await expect(open()).rejects.toThrow(/newer erp-proxy \(store version 999, this one knows 20\)/);
      await expect(open()).rejects.toThrow(StoreError);
      expect(await schema.query('SELECT max(version) FROM erp_proxy_migrations')).toEqual([{ max: 999 }]);
    });

    test('a schema with tables of another program, and does not change it', async () => {
      await schema.query('CREATE TABLE leases (tenant text)');
      await expect(open()).rejects.toThrow(/tables of another program/);
      expect(
        await schema.query('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()'),
      ).toEqual([{ tablename: 'leases' }]);
    });

    test.each([
      ['a missing schema', { search: '?options=-c+search_path%3Dnowhere' }, /Create the one that/],
      ['a missing database', { pathname: '/nowhere' }, /there is no such database/],
      ['a missing role', { username: 'nobody_here' }, /refuses this user/],
      ['a missing server', { port: '1' }, /cannot be reached. Check host and port/],
      ['a missing host', { hostname: 'nowhere.invalid' }, /host has no address/],
    ])('%s, without the password', async (_, parts, says) => {
      const url = Object.assign(new URL(schema.url), { password: 'hunter2' }, parts);
      url.searchParams.set('sslmode', 'disable');
      const error = await openPostgresStore(url.href).catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(StoreError);
      expect(String(error)).toMatch(says);
      expect(String(error)).toContain(`The store postgres ${url.hostname}${url.pathname} cannot be used: `);
      expect(String(error)).not.toContain('hunter2');
    });
  });

  async function open() {
    const store = await openPostgresStore(schema.url);
    opened.push(store);
    return store;
  }
});
