/** Another password, on a server that checks passwords. */

import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Cluster, clusterMissing, startCluster } from '../../../server/test/postgres-cluster.ts';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { openPostgresStore } from './store.ts';

describe.skipIf(clusterMissing !== null)('with a PostgreSQL server of its own', () => {
  let cluster: Cluster;
  let admin: pg.Client;
  beforeEach(async () => {
    cluster = await startCluster();
    admin = new pg.Client({ connectionString: cluster.url });
    await admin.connect();
    await admin.query("CREATE ROLE proxy LOGIN PASSWORD 'first-secret'");
    await admin.query('CREATE DATABASE proxy OWNER proxy');
    const { rows } = await admin.query<{ hba_file: string }>('SHOW hba_file');
    const rules = `VALUES ('host all proxy 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust')`;
    await admin.query(`COPY (${rules}) TO '${rows[0]?.hba_file}'`);
    await admin.query('SELECT pg_reload_conf()');
  });
  afterEach(async () => {
    await admin.end();
    await cluster.stop();
  });

  const withPassword = (password: string) => {
    const url = new URL(cluster.url);
    Object.assign(url, { username: 'proxy', password, pathname: '/proxy' });
    return url.href;
  };

  test('a password is taken over once the server accepts it, and no statement fails', async () => {
    const store = await openPostgresStore(withPassword('first-secret'));
    try {
      await expect(store.takeLogin?.(withPassword('second-secret'))).rejects.toThrow(/refuses this user/);
      const insert = (name: string) =>
        Promise.all(
          Array.from({ length: 20 }, (_, at) => store.keys.insert(buildKey({ id: `${name}${at}` }))),
        );
      // Every connection of the pool is open: PostgreSQL refuses new ones between the two statements below.
      await insert('first');
      const before = insert('before');
      await admin.query("ALTER ROLE proxy PASSWORD 'second-secret'");
      await store.takeLogin?.(withPassword('second-secret'));
      await before;
      await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'proxy'");
      // The feed of changes connects again, too.
      await expect.poll(() => store.isWatching).toBe(false);
      await expect.poll(() => store.isWatching).toBe(true);
      await insert('after');
      expect(await store.keys.findById('after19')).not.toBeNull();
    } finally {
      await store.close();
    }
  });
});
