import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createInstances } from '../instances.ts';
import type { InstanceStore } from '../ports/instances.ts';
import { createConnection } from './connection.ts';
import { migrate } from './migrations.ts';

let database: DatabaseSync;
let instances: InstanceStore;

beforeEach(() => {
  database = new DatabaseSync(':memory:');
  migrate(database);
  database.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
     INSERT INTO instances (id, name, master_key_id, body)
       SELECT 'id ' || n, printf('name %04d', n), iif(n % 2, 'odd', 'even'), iif(n % 600 = 0, '{"rare":1}', '{}')
       FROM numbers;`,
  );
  const connection = createConnection(database);
  instances = createInstances({ durable: connection, quick: connection });
});
afterEach(() => database.close());

test('searches more instances than one slice has', async () => {
  const rare = ['name 0600', 'name 1200', 'name 1800'];
  const found = await instances.list({ after: null, limit: 9, search: 'rare' });
  expect(found.map(({ name }) => name)).toEqual(rare);
  const rest = await instances.list({ after: 'name 0600', limit: 1, search: 'RARE' });
  expect(rest.map(({ name }) => name)).toEqual(['name 1200']);
  expect(await instances.list({ after: null, limit: 1500 })).toHaveLength(1500);
});

test('counts more instances than one slice has', async () => {
  expect([...(await instances.countByMasterKey())].sort()).toEqual([
    ['even', 1000],
    ['odd', 1000],
  ]);
});
