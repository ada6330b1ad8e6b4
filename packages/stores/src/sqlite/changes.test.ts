import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { createKeys } from '../keys.ts';
import type { StoreChange } from '../ports/store.ts';
import { type ChangeFeed, openChangeFeed } from './changes.ts';
import { createConnection } from './connection.ts';
import { migrate } from './migrations.ts';

let database: DatabaseSync;
let changes: ChangeFeed;
let told: (StoreChange | null)[];

beforeEach(async () => {
  database = new DatabaseSync(':memory:');
  migrate(database);
  const connection = createConnection(database);
  await createKeys({ durable: connection, quick: connection }).insert(buildKey({ id: 'old' }));
  changes = openChangeFeed(database);
  told = [];
  changes.watch((change) => told.push(change));
});
afterEach(() => {
  changes.close();
  database.close();
});

test('reports each change since the watch began once, in order', () => {
  database.exec("UPDATE client_keys SET revoked_at = 5; DELETE FROM client_keys WHERE id = 'old'");
  database.exec("INSERT INTO instances (id, name, master_key_id, body) VALUES ('i', 'prod', 'm', '{}')");
  changes.poll();
  changes.poll();
  expect(told).toEqual([
    { kind: 'key', id: 'old' },
    { kind: 'key', id: 'old' },
    { kind: 'instance', id: 'prod' },
  ]);
});

test('reports that anything may have changed after more changes than the table keeps', () => {
  for (let count = 0; count < 1001; count++) database.exec(`UPDATE client_keys SET name = 'name ${count}'`);
  changes.poll();
  expect(told).toEqual([null]);
  expect(database.prepare('SELECT count(*) AS count FROM changes').get()).toEqual({ count: 1000 });
});

test('is not watching while the file cannot be read, and then reports that anything may have changed', () => {
  expect(changes.isWatching).toBe(true);
  database.exec('ALTER TABLE changes RENAME TO away');
  changes.poll();
  expect(changes.isWatching).toBe(false);
  expect(told).toEqual([]);
  database.exec('ALTER TABLE away RENAME TO changes');
  changes.poll();
  expect(changes.isWatching).toBe(true);
  expect(told).toEqual([null]);
});

test('is not watching if the file is locked when the watch begins, and then reports that anything may have changed', () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-changes-'));
  const file = join(directory, 'store.db');
  const reader = new DatabaseSync(file);
  migrate(reader);
  const other = new DatabaseSync(file);
  other.exec('BEGIN EXCLUSIVE');
  const locked = openChangeFeed(reader);
  try {
    locked.watch((change) => told.push(change));
    expect(locked.isWatching).toBe(false);
    other.exec('COMMIT');
    locked.poll();
    expect(locked.isWatching).toBe(true);
    expect(told).toEqual([null]);
  } finally {
    locked.close();
    other.close();
    reader.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('reports nothing once it is closed', () => {
  changes.close();
  database.exec("UPDATE client_keys SET name = 'new'");
  changes.poll();
  expect(told).toEqual([]);
  expect(changes.isWatching).toBe(false);
});
