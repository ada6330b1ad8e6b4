import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildKey, describeStore } from './contract.ts';
import type { Store } from './ports.ts';
import { openSqliteStore } from './sqlite.ts';
import { StoreError } from './store-error.ts';

let directory: string;
let file: string;
let opened: Store[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'erp-proxy-sqlite-'));
  file = join(directory, 'store.db');
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
  rmSync(directory, { recursive: true, force: true });
});

describeStore('SQLite', () => open());

describe('a file shared by two connections', () => {
  test('shows each what the other wrote', async () => {
    const one = open();
    const two = open();
    await one.keys.insert(buildKey({ id: 'a' }));
    expect((await two.keys.findById('a'))?.revokedAt).toBeNull();
    await two.keys.revoke('a', 9);
    expect((await one.keys.findById('a'))?.revokedAt).toBe(9);
  });

  test('can be read while the other is in the middle of a write', async () => {
    const store = open();
    await store.keys.insert(buildKey({ id: 'a' }));
    const writer = new DatabaseSync(file);
    try {
      writer.exec("BEGIN IMMEDIATE; UPDATE client_keys SET name = 'half'");
      expect((await store.keys.findById('a'))?.name).toBe('test');
      const late = open();
      expect(await late.keys.isEmpty()).toBe(false);
    } finally {
      writer.close();
    }
  });
});

test('keeps keys and hash secret over a restart', async () => {
  const before = open();
  await before.keys.insert(buildKey({ id: 'a' }));
  await before.keys.getOrCreateHashSecret(new Uint8Array(32).fill(3));
  await before.close();
  const after = open();
  expect((await after.keys.findById('a'))?.id).toBe('a');
  expect([...(await after.keys.getOrCreateHashSecret(new Uint8Array(32)))]).toEqual(Array(32).fill(3));
});

test('makes its files readable by their owner only, and the directories it makes too', async () => {
  const nested = join(directory, 'one', 'two', 'store.db');
  const store = openSqliteStore(nested);
  opened.push(store);
  await store.keys.insert(buildKey({ id: 'a' }));
  expect(readdirSync(join(directory, 'one', 'two')).sort()).toEqual([
    'store.db',
    'store.db-shm',
    'store.db-wal',
  ]);
  for (const path of ['one/two/store.db', 'one/two/store.db-shm', 'one/two/store.db-wal']) {
    expect(readMode(join(directory, path))).toBe('600');
  }
  expect(readMode(join(directory, 'one'))).toBe('700');
  expect(readMode(join(directory, 'one', 'two'))).toBe('700');
});

test('is migrated once when ten processes open a fresh file at the same moment', async () => {
  const script = `
    import { once } from 'node:events';
    import { openSqliteStore } from ${JSON.stringify(new URL('./sqlite.ts', import.meta.url).href)};
    process.stdout.write('ready');
    await once(process.stdin, 'data');
    const store = openSqliteStore(${JSON.stringify(file)});
    const secret = store.keys.getOrCreateHashSecret(crypto.getRandomValues(new Uint8Array(32)));
    store.close();
    process.stdout.write(Buffer.from(secret).toString('hex'));
    process.exit();
  `;
  const children = Array.from({ length: 10 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], { timeout: 15_000 }),
  );
  try {
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    const outputs = Promise.all(
      children.map((child) => Promise.all([text(child.stdout), text(child.stderr)])),
    );
    for (const child of children) child.stdin.write('go');
    const answers = await outputs;
    expect(answers.map(([, stderr]) => stderr).join('')).toBe('');
    const secrets = new Set(answers.map(([secret]) => secret));
    expect(secrets.size).toBe(1);
    expect([...secrets][0]).toMatch(/^[0-9a-f]{64}$/);
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
  const database = new DatabaseSync(file);
  expect(
    database
      .prepare('SELECT version FROM migrations')
      .all()
      .map((row) => row['version']),
  ).toEqual([1]);
  expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
  database.close();
});

test('waits for another process that is writing the first tables', async () => {
  const writer = new Worker(
    `const { DatabaseSync } = require('node:sqlite');
     const { parentPort, workerData } = require('node:worker_threads');
     const database = new DatabaseSync(workerData);
     database.exec('BEGIN IMMEDIATE');
     parentPort.postMessage('writing');
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
     database.close();`,
    { eval: true, workerData: file },
  );
  const ended = once(writer, 'exit');
  await once(writer, 'message');
  expect(await open().keys.isEmpty()).toBe(true);
  await ended;
});

describe('refuses with a clear error', () => {
  test('a file that a newer version wrote, and leaves it as it is', async () => {
    await open().close();
    const database = new DatabaseSync(file);
    database.exec('INSERT INTO migrations (version) VALUES (999)');
    database.close();
    expect(() => open()).toThrow(/newer erp-proxy \(store version 999/);
    expect(() => open()).toThrow(StoreError);
  });

  test('a file that is not a database, and leaves it as it is', () => {
    writeFileSync(file, 'name;price\n'.repeat(1000));
    expect(() => open()).toThrow(/not a SQLite database/);
    expect(statSync(file).size).toBe(11_000);
  });

  test('the database of another program, and adds nothing to it', () => {
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE invoices (id)');
    expect(() => open()).toThrow(/database of another program/);
    expect(database.prepare('SELECT name FROM sqlite_schema').all()).toHaveLength(1);
    database.close();
  });

  test('a directory', () => {
    mkdirSync(file);
    expect(() => open()).toThrow(/a file, not a directory/);
  });

  test('a path through a file', () => {
    writeFileSync(file, '');
    expect(() => openSqliteStore(join(file, 'store.db'))).toThrow(/its directory is a file/);
    expect(() => openSqliteStore(join(file, 'deeper', 'store.db'))).toThrow(/a part of its path is a file/);
  });

  test('a directory that may not be written', () => {
    chmodSync(directory, 0o555);
    asUserWithoutRights(() => {
      expect(() => open()).toThrow(/may not write the file or its directory/);
    });
  });

  // Root may write any file, and becoming another user for a moment does not change what access(2) answers.
  test.skipIf(process.getuid?.() === 0)('a file that may not be written', async () => {
    await open().close();
    chmodSync(file, 0o444);
    expect(() => open()).toThrow(/may not write the file or its directory/);
  });
});

function open(): Store {
  const store = openSqliteStore(file);
  opened.push(store);
  return store;
}

function readMode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** Root may write everywhere, so root becomes nobody for a moment. */
function asUserWithoutRights(run: () => void): void {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    run();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
