import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildKey } from '../../../test/stores/store-suite.ts';
import type { StoreChange } from '../ports.ts';
import { type ChangeFeed, followChanges } from './changes.ts';
import { createSqliteKeys } from './keys.ts';
import { migrate } from './migrations.ts';

let database: DatabaseSync;
let changes: ChangeFeed;
let told: (StoreChange | null)[];

beforeEach(async () => {
  database = new DatabaseSync(':memory:');
  migrate(database);
  await createSqliteKeys(database, () => {}).insert(buildKey({ id: 'old' }));
  changes = followChanges(database);
  told = [];
  changes.watch((change) => told.push(change));
});
afterEach(() => {
  changes.close();
  database.close();
});

test('tells once of each change since the watch began, in their order', () => {
  database.exec("UPDATE client_keys SET revoked_at = 5; DELETE FROM client_keys WHERE id = 'old'");
  database.exec("INSERT INTO instances (id, name, master_key_id, body) VALUES ('i', 'prod', 'm', '{}')");
  changes.look();
  changes.look();
  expect(told).toEqual([
    { kind: 'key', id: 'old' },
    { kind: 'key', id: 'old' },
    { kind: 'instance', id: 'prod' },
  ]);
});

test('looks by itself for what another process has changed', async () => {
  database.exec("UPDATE client_keys SET name = 'by hand'");
  await expect.poll(() => told, { timeout: 5000 }).toEqual([{ kind: 'key', id: 'old' }]);
});

test('says that anything may have changed when there were too many changes to keep', () => {
  for (let count = 0; count < 1001; count++) database.exec(`UPDATE client_keys SET name = 'name ${count}'`);
  changes.look();
  expect(told).toEqual([null]);
  expect(database.prepare('SELECT count(*) AS count FROM changes').get()).toEqual({ count: 1000 });
});

test('is not watching while the file cannot be read, and says afterwards that anything may have changed', () => {
  expect(changes.isWatching).toBe(true);
  database.exec('ALTER TABLE changes RENAME TO away');
  changes.look();
  expect(changes.isWatching).toBe(false);
  expect(told).toEqual([]);
  database.exec('ALTER TABLE away RENAME TO changes');
  changes.look();
  expect(changes.isWatching).toBe(true);
  expect(told).toEqual([null]);
});

test('is not watching where the file is locked when the watch begins, and says afterwards that anything may have changed', () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-changes-'));
  const file = join(directory, 'store.db');
  const reader = new DatabaseSync(file, { timeout: 0 });
  migrate(reader);
  const other = new DatabaseSync(file);
  other.exec('BEGIN EXCLUSIVE');
  const locked = followChanges(reader);
  try {
    locked.watch((change) => told.push(change));
    expect(locked.isWatching).toBe(false);
    other.exec('COMMIT');
    locked.look();
    expect(locked.isWatching).toBe(true);
    expect(told).toEqual([null]);
  } finally {
    locked.close();
    other.close();
    reader.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('tells nothing once it is closed', () => {
  changes.close();
  database.exec("UPDATE client_keys SET name = 'new'");
  changes.look();
  expect(told).toEqual([]);
  expect(changes.isWatching).toBe(false);
});
