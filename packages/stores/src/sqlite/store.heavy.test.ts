import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  buildKey,
  CLIENTS_OF_ROTATED_KEYS,
  describeStore,
  expectChain,
  listClients,
  ROTATED_KEYS,
} from '../../../server/test/stores/store-suite.ts';
import { pause } from '../../../server/test/time.ts';
import type { Store } from '../ports/store.ts';
import { StoreError } from '../store-error.ts';
import { openSqliteStore } from './store.ts';
import { createFileOfVersion1 } from './version1.fixture.ts';

/** A lease of this duration has expired after twice that time. */
const SHORT_MS = 5;

let directory: string;
let file: string;
let opened: Store[];
let children: ChildProcessWithoutNullStreams[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'erp-proxy-sqlite-'));
  file = join(directory, 'store.db');
  opened = [];
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const store of opened) await store.close();
  rmSync(directory, { recursive: true, force: true });
});

describeStore({
  name: 'SQLite',
  open: () => open(),
  shared: {
    refuseAudit() {
      const database = new DatabaseSync(file);
      database.exec(
        "CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no audit today'); END",
      );
      database.close();
    },
  },
});

test('can be read while another process is within a write transaction', async () => {
  const store = await open();
  await store.keys.insert(buildKey({ id: 'a' }));
  const writer = new DatabaseSync(file);
  try {
    writer.exec("BEGIN IMMEDIATE; UPDATE client_keys SET name = 'half'");
    expect((await store.keys.findById('a'))?.name).toBe('test');
    const late = await open();
    expect(await late.keys.isEmpty()).toBe(false);
  } finally {
    writer.close();
  }
});

test('migrates a file of version 1 and keeps its keys', async () => {
  createFileOfVersion1(file);
  const store = await open();
  expect(store.migration).toEqual({ from: 1, to: 22 });
  expect(await store.keys.findById('a')).toEqual({
    ...buildKey({ id: 'a', name: 'shop', expiresAt: 2, revokedAt: 3, lastUsedAt: 4 }),
    secretHash: new Uint8Array(32),
  });
  expect([...(await store.keys.getOrCreateHashSecret(new Uint8Array(32).fill(1)))]).toEqual(
    Array(32).fill(0),
  );
  expect(await store.keys.update('a', 1, { policy: '{}' })).toBe('done');
  expect((await open()).migration).toEqual({ from: 22, to: 22 });
});

test('finds the client of each key that a file of version 6 has', async () => {
  const store = await open();
  for (const key of ROTATED_KEYS) await store.keys.insert(buildKey(key));
  await store.close();
  const before = new DatabaseSync(file);
  before.exec(`
    DROP INDEX client_keys_by_expiry;
    DROP INDEX client_keys_by_client;
    ALTER TABLE client_keys DROP COLUMN client_id;
    DROP TABLE call_counts;
    DROP TABLE approvals;
    DROP TABLE denied_subjects;
    DROP TABLE statistics;
    DROP TABLE watched_ids;
    DROP TABLE subscriptions;
    DROP TABLE deliveries;
    ALTER TABLE client_keys DROP COLUMN person;
    ALTER TABLE client_keys DROP COLUMN created_by;
    DROP TABLE connections;
    DROP TABLE operator_tokens;
    DROP TABLE operators;
    DROP TABLE ended_sessions;
    DROP TABLE sign_in_objects;
    DROP TABLE consents;
    DROP TABLE audit_sinks;
    DROP TABLE jobs;
    DROP TABLE job_parts;
    DELETE FROM migrations WHERE version > 6;`);
  before.close();
  const migrated = await open();
  expect(migrated.migration?.from).toBe(6);
  expect(await listClients(migrated)).toEqual(CLIENTS_OF_ROTATED_KEYS);
});

test('takes a key that an earlier release inserts for the first of its client', async () => {
  const store = await open();
  const earlier = new DatabaseSync(file);
  earlier.exec(
    "INSERT INTO client_keys (id, name, secret_hash, created_at, replaces) VALUES ('b', 'shop', zeroblob(32), 1, 'a')",
  );
  earlier.close();
  expect(await store.keys.findById('b')).toMatchObject({ clientId: 'b', replaces: 'a' });
});

test('creates files and directories with access for their owner only', async () => {
  const nested = join(directory, 'one', 'two', 'store.db');
  const store = await openSqliteStore(nested);
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

test('is migrated once if ten processes open a new file at the same moment', async () => {
  const processes = await startChildren(
    10,
    `const secret = await store.keys.getOrCreateHashSecret(crypto.getRandomValues(new Uint8Array(32)));
     process.stdout.write(Buffer.from(secret).toString('hex'));`,
  );
  const secrets = new Set(await Promise.all(processes.map(readAnswer)));
  expect(secrets.size).toBe(1);
  expect([...secrets][0]).toMatch(/^[0-9a-f]{64}$/);
  const database = new DatabaseSync(file);
  expect(
    database
      .prepare('SELECT version FROM migrations')
      .all()
      .map((row) => row['version']),
  ).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]);
  expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
  database.close();
});

test('four processes that append at the same moment write one chain of audit rows', async () => {
  const processes = await startChildren(
    4,
    `for (let at = 0; at < 50; at++) {
       const batch = makeBatch({ at, record: '{"n":1}' }, { at, record: '{"n":2}' });
       await insist(() => store.audit.append(batch));
     }`,
  );
  await Promise.all(processes.map(readAnswer));
  const rows = await (await open()).audit.readAfter(0, 1000);
  expect(rows).toHaveLength(400);
  expectChain(rows);
});

test('four processes that claim the same idempotency keys get each key once', async () => {
  const processes = await startChildren(
    4,
    `const claim = { client: 'c', fingerprint: 'f', attempt: String(process.pid), runsForMs: 60_000, expiresInMs: 60_000 };
     for (let id = 0; id < 200; id++) {
       const held = await insist(() => store.idempotency.claim({ ...claim, id: String(id) }));
       if (held === null) writeSync(1, id + '\\n');
     }`,
  );
  const claimed = (await Promise.all(processes.map(readAnswer))).flatMap((ids) => ids.trim().split('\n'));
  expect(
    claimed
      .filter(Boolean)
      .map(Number)
      .sort((a, b) => a - b),
  ).toEqual([...Array(200).keys()]);
});

test('every audit row whose append has returned is there after the process is killed', async () => {
  const [child] = await startChildren(
    1,
    `for (let count = 1; ; count++) {
       await store.audit.append(makeBatch({ at: count, record: '{}' }));
       writeSync(1, count + '\\n');
     }`,
  );
  if (!child) throw new Error('No process was started.');
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    if (output.length > 1000) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const returned = Number(output.trimEnd().split('\n').at(-1));
  const rows = await (await open()).audit.readAfter(0, 100_000);
  expect(returned).toBeGreaterThan(100);
  expect(rows.length).toBeGreaterThanOrEqual(returned);
  expectChain(rows);
});

test('waits for another process that is creating the first tables', async () => {
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
  expect(await (await open()).keys.isEmpty()).toBe(true);
  await ended;
});

describe('refuses with a clear error', () => {
  test('a file of a newer version, and does not change it', async () => {
    await (await open()).close();
    const database = new DatabaseSync(file);
    database.exec('INSERT INTO migrations (version) VALUES (999)');
    database.close();
    await expect(open()).rejects.toThrow(/newer erp-proxy \(store version 999/);
    await expect(open()).rejects.toThrow(StoreError);
  });

  test('a file that is not a database, and does not change it', async () => {
    writeFileSync(file, 'name;price\n'.repeat(1000));
    await expect(open()).rejects.toThrow(/not a SQLite database/);
    expect(statSync(file).size).toBe(11_000);
  });

  test.each([
    'CREATE TABLE invoices (id)',
    // A table in which other programs record their own migrations.
    'CREATE TABLE migrations (id INTEGER PRIMARY KEY, migration TEXT, batch INTEGER)',
    'CREATE TABLE migrations (version BIGINT); INSERT INTO migrations VALUES (20260101120000)',
    'CREATE TABLE migrations (version INTEGER PRIMARY KEY); INSERT INTO migrations VALUES (3)',
  ])('the database of another program, and does not change it: %s', async (tables) => {
    const database = new DatabaseSync(file);
    database.exec(tables);
    const before = readFileSync(file);
    await expect(open()).rejects.toThrow(/database of another program/);
    expect(database.prepare('SELECT name FROM sqlite_schema').all()).toHaveLength(1);
    database.close();
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('a directory', async () => {
    mkdirSync(file);
    await expect(open()).rejects.toThrow(/a file, not a directory/);
  });

  test('a path through a file', async () => {
    writeFileSync(file, '');
    await expect(openSqliteStore(join(file, 'store.db'))).rejects.toThrow(/a part of its path is a file/);
    await expect(openSqliteStore(join(file, 'deeper', 'store.db'))).rejects.toThrow(
      /a part of its path is a file/,
    );
  });

  // Root may write any file, and a temporary change of the user does not change the result of access(2).
  test.skipIf(process.getuid?.() === 0)('a file without write permission', async () => {
    await (await open()).close();
    chmodSync(file, 0o444);
    await expect(open()).rejects.toThrow(/may not write the file or its directory/);
  });
});

async function open() {
  const store = await openSqliteStore(file);
  opened.push(store);
  return store;
}

/** Starts processes that open the store at the same moment and run the script, which uses it as `store`. */
async function startChildren(count: number, script: string): Promise<ChildProcessWithoutNullStreams[]> {
  const code = `
    import { once } from 'node:events';
    import { writeSync } from 'node:fs';
    import { openSqliteStore } from ${JSON.stringify(new URL('./store.ts', import.meta.url).href)};
    import { StoreError } from ${JSON.stringify(new URL('../store-error.ts', import.meta.url).href)};
    import { makeBatch } from ${JSON.stringify(new URL('../audit-batch.fixture.ts', import.meta.url).href)};
    // On a busy machine, another process can keep the file locked for longer than an operation waits.
    async function insist(operate) {
      for (;;) {
        try {
          return await operate();
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
        }
      }
    }
    process.stdout.write('ready');
    await once(process.stdin, 'data');
    const store = await insist(() => openSqliteStore(${JSON.stringify(file)}));
    ${script}
    await store.close();
    process.exit();
  `;
  const started = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', code]),
  );
  children.push(...started);
  await Promise.all(started.map((child) => once(child.stdout, 'data')));
  for (const child of started) child.stdin.write('go');
  return started;
}

async function readAnswer(child: ChildProcessWithoutNullStreams): Promise<string> {
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toBe('');
  return stdout;
}

function readMode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test('a new lease removes those that have expired', async () => {
  const { leases } = await open();
  for (let index = 0; index < 20; index++) await leases.acquire(`notice ${index}`, 'one', SHORT_MS);
  await pause(2 * SHORT_MS);
  await leases.acquire('later', 'two', 60_000);
  const database = new DatabaseSync(file);
  expect(database.prepare('SELECT name FROM leases').all()).toEqual([{ name: 'later' }]);
  database.close();
});
