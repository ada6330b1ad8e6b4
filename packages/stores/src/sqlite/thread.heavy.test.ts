import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { expectToStay, measureCpuMs, pause, watchBlocks } from '../../../server/test/time.ts';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { OpenedStore, StoreChange } from '../ports/store.ts';
import { StoreError, UnknownOutcomeError } from '../store-error.ts';
import { BEAT_INTERVAL_MS } from './heartbeat.ts';
import { openSqliteStore } from './store.ts';

/** Whether `prlimit` exists. It is part of util-linux, which Debian always has. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

let directory: string;
let file: string;
let store: OpenedStore;
let threads: Worker[];
const onWorker = (worker: Worker) => threads.push(worker);

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'erp-proxy-thread-'));
  file = join(directory, 'data', 'store.db');
  threads = [];
  process.on('worker', onWorker);
  store = await openSqliteStore(file);
});
afterEach(async () => {
  process.off('worker', onWorker);
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('while another process holds the write lock', () => {
  let lock: DatabaseSync;

  beforeEach(async () => {
    await store.keys.insert(buildKey({ id: 'a' }));
    lock = new DatabaseSync(file);
    lock.exec('BEGIN IMMEDIATE');
  });
  afterEach(() => lock.close());

  test('reads are answered, writes are refused in their time, and the event loop is not blocked', async () => {
    const blocks = closeAfterTest(watchBlocks());
    const writes = [
      store.keys.insert(buildKey({ id: 'b' })),
      store.idempotency.claim({ ...CLAIM, id: 'i' }),
      store.audit.append(makeBatch({ at: 1, record: '{}' })),
      store.leases.acquire('job', 'one', 1000),
    ].map(async (write) => write);
    let isOver = false;
    const refusals = Promise.allSettled(writes).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      expect(await store.keys.findById('a')).toMatchObject({ name: 'test' });
      expect(await store.idempotency.find('i')).toBeNull();
      expect(await store.keys.list({ after: null, limit: 9, search: 'x' })).toEqual([]);
      await pause();
    }
    expect(blocks.readLongestMs()).toBeLessThan(BLOCKED_MS_MAX);
    for (const refusal of await refusals) {
      expect(refusal).toMatchObject({ status: 'rejected', reason: expect.any(StoreError) });
      expect(refusal).toMatchObject({ reason: { reason: expect.stringMatching(/keeps it locked/) } });
    }
    expect(store.trouble).toMatch(/keeps it locked/);

    lock.exec('COMMIT');
    await expect.poll(() => store.trouble).toBeNull();
    expect(await store.keys.findById('b')).toBeNull();
    expect(await store.idempotency.find('i')).toBeNull();
    expect(await store.audit.readAfter(0, 9)).toEqual([]);
  });

  test('writes wait in order, and are made when it is released', async () => {
    const names: string[] = [];
    const writes = ['one', 'two', 'three'].map(async (name, index) => {
      expect(await store.keys.update('a', index + 1, { name })).toBe('done');
      names.push(name);
    });
    await expectToStay(() => names, []);
    lock.exec('COMMIT');
    await Promise.all(writes);
    expect(names).toEqual(['one', 'two', 'three']);
    expect(await store.keys.findById('a')).toMatchObject({ name: 'three', version: 4 });
  });
});

test('reports a change that is made while its thread is too busy to begin the watch', async () => {
  await store.keys.insert(buildKey({ id: 'a' }));
  const asked = Array.from({ length: 2_000 }, async () => store.keys.findById('a'));
  const told: (StoreChange | null)[] = [];
  store.watch((change) => told.push(change));
  const other = new DatabaseSync(file);
  other.exec("INSERT INTO changes (kind, id) VALUES ('key', 'a')");
  other.close();
  await Promise.all(asked);
  await expect.poll(() => told.length).toBeGreaterThan(0);
});

test('completes pending requests when it is closed', async () => {
  const writes = Array.from({ length: 50 }, (_, index) => store.keys.insert(buildKey({ id: `${index}` })));
  await store.close();
  await Promise.all(writes);
  store = await openSqliteStore(file);
  expect(await store.keys.list({ after: null, limit: 100 })).toHaveLength(50);
});

test('refuses requests once it is closed', async () => {
  await store.close();
  await expect((async () => store.keys.isEmpty())()).rejects.toThrow('it is closed');
  expect(store.isWatching).toBe(false);
});

test('refuses a write while it is being closed', async () => {
  const lock = new DatabaseSync(file);
  lock.exec('BEGIN IMMEDIATE');
  const before = (async () => store.leases.acquire('job', 'one', 1000))();
  const refused = expect(before).rejects.toThrow(/keeps it locked/);
  const closed = store.close();
  await expect((async () => store.keys.insert(buildKey({ id: 'late' })))()).rejects.toThrow('it is closed');
  await Promise.all([refused, closed]);
  lock.close();
});

test('stays closed if it is closed while its thread is being replaced', async () => {
  await store.keys.insert(buildKey({ id: 'a' }));
  const again = new Promise<void>((resolve) => process.once('worker', () => resolve()));
  await threads[0]?.terminate();
  await again;
  await store.close();
  await expect((async () => store.keys.findById('a'))()).rejects.toThrow('it is closed');
  expect(store.trouble).toMatch(/it is closed/);
  await expect.poll(() => threads[1]?.threadId).toBe(-1);
});

test('answers reads while the queue of writes is full', async () => {
  await store.keys.insert(buildKey({ id: 'a' }));
  const lock = new DatabaseSync(file);
  lock.exec('BEGIN IMMEDIATE');
  const writes = Array.from({ length: 10_500 }, async (_, index) =>
    store.keys.insert(buildKey({ id: `${index}` })),
  );
  const settled = Promise.allSettled(writes);
  try {
    expect(await store.keys.findById('a')).not.toBeNull();
  } finally {
    lock.close();
    await settled;
  }
});

describe('while the file is not at its path', () => {
  const confirm = async () => store.keys.insert(buildKey({ id: 'lost' }));
  const moved = () => join(directory, 'moved.db');

  test('refuses changes, reports the reason, and continues when the file is put back', async () => {
    await store.keys.insert(buildKey({ id: 'a' }));
    renameSync(file, moved());
    await expect(confirm()).rejects.toThrow(/was moved or deleted/);
    await expect((async () => store.idempotency.claim({ ...CLAIM, id: 'i' }))()).rejects.toThrow(StoreError);
    await expect.poll(() => store.trouble).toMatch(/was moved or deleted/);
    expect(await store.keys.findById('a')).toMatchObject({ name: 'test' });
    renameSync(moved(), file);
    await expect.poll(() => store.trouble).toBeNull();
    await confirm();
  });

  test('reports it even if nothing is written', async () => {
    renameSync(file, moved());
    await expect.poll(() => store.trouble).toMatch(/was moved or deleted/);
  });

  test.each(['-wal', '-shm'])(
    'refuses changes without its file %s, and keeps all of them',
    async (ending) => {
      await store.keys.insert(buildKey({ id: 'a' }));
      rmSync(`${file}${ending}`);
      await expect(confirm()).rejects.toThrow(/-wal or -shm file was moved or deleted/);
      await expect.poll(() => store.trouble).toMatch(/restart the proxy at once/);
      await store.close();
      store = await openSqliteStore(file);
      expect(await store.keys.findById('a')).toMatchObject({ name: 'test' });
      await confirm();
    },
  );

  test('refuses changes if another file has taken its place', async () => {
    renameSync(file, moved());
    copyFileSync(moved(), file);
    await expect(confirm()).rejects.toThrow(/another file has taken its place/);
    await expect.poll(() => store.trouble).toMatch(/Restart the proxy/);
  });
});

test('reports a damaged file until it is opened again, even if only a read shows it', async () => {
  for (let index = 0; index < 300; index++) await store.keys.insert(buildKey({ id: `${index}` }));
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const page = Number(
    database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'client_keys_by_name'").get()?.[
      'rootpage'
    ],
  );
  database.close();
  const bytes = openSync(file, 'r+');
  writeSync(bytes, Buffer.alloc(4096, 0xff), 0, 4096, (page - 1) * 4096);
  closeSync(bytes);
  const read = async () => store.keys.list({ after: null, limit: 9, name: 'test' });
  await expect(read()).rejects.toThrow(/the file is damaged/);
  await expect.poll(() => store.trouble).toMatch(/the file is damaged/);
  await store.leases.acquire('job', 'one', 1000);
  await expectToStay(() => /the file is damaged/.test(store.trouble ?? ''), true, TWO_BEATS_MS);
});

test('opens the file again when its thread ends, and reports that anything may have changed', async () => {
  const told: (StoreChange | null)[] = [];
  store.watch((change) => told.push(change));
  await store.keys.insert(buildKey({ id: 'a' }));
  const lock = new DatabaseSync(file);
  lock.exec('BEGIN IMMEDIATE');
  const asked = (async () => store.keys.insert(buildKey({ id: 'b' })))();
  const refused = expect(asked).rejects.toThrow(UnknownOutcomeError);
  await store.probe();
  told.length = 0;
  await threads[0]?.terminate();
  await refused;
  lock.close();
  expect(store).toMatchObject({ isWatching: false, trouble: expect.stringMatching(/thread has ended/) });
  await expect((async () => store.keys.isEmpty())()).rejects.toThrow(StoreError);

  await expect.poll(() => store.isWatching).toBe(true);
  expect(told).toEqual([null]);
  expect(store.trouble).toBeNull();
  expect(await store.keys.findById('b')).toBeNull();
  await store.keys.insert(buildKey({ id: 'c' }));
  await expect.poll(() => told).toEqual([null, { kind: 'key', id: 'c' }]);
});

test('retries while the file cannot be opened again, and reports the reason', async () => {
  const away = join(directory, 'away');
  renameSync(join(directory, 'data'), away);
  writeFileSync(join(directory, 'data'), '');
  await threads[0]?.terminate();
  await expect.poll(() => store.trouble).toMatch(/a part of its path is a file/);
  rmSync(join(directory, 'data'));
  renameSync(away, join(directory, 'data'));
  await expect.poll(() => store.trouble).toBeNull();
  expect(await store.keys.isEmpty()).toBe(true);
});

test.runIf(canLimit)('refuses to open the file if its thread cannot be started, and says so', () => {
  const program = fileURLToPath(
    new URL('../../../server/test/stores/open-without-thread.ts', import.meta.url),
  );
  const { stdout, stderr } = spawnSync(process.execPath, [program, file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^StoreError: .* its thread cannot be started\. See the limits of memory, .*\n$/);
});

test('notices a blocked thread, and does not append a repeated batch twice', async () => {
  // The trigger makes inserts as slow as a failing disk: several seconds for each record.
  const database = new DatabaseSync(file);
  database.exec(
    `CREATE TABLE numbers AS WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 1000)
       SELECT n FROM row`,
  );
  const work = (count: number) =>
    `SELECT count(*) FROM numbers one, numbers two, numbers three WHERE max(one.n, two.n, three.n) <= ${count}
       AND one.n <= ${count} AND two.n <= ${count}`;
  // The shortest time counts: on a busy machine, the same work takes several times as long.
  let workMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round++)
    workMs = Math.min(workMs, await measureCpuMs(() => database.prepare(work(60)).get()));
  database.exec(
    `CREATE TRIGGER slow BEFORE INSERT ON audit BEGIN ${work(Math.round(60 * Math.sqrt(SLOW_MS / workMs)))}; END`,
  );
  database.close();
  const batch = makeBatch({ at: 1, record: '{}' });
  const appended = (async () => store.audit.append(batch))();
  const givenUp = expect(appended).rejects.toThrow(UnknownOutcomeError);
  await expect.poll(() => store.isWatching).toBe(false);
  expect(store.trouble).toMatch(/does not answer/);
  await expect((async () => store.probe())()).rejects.toThrow(/does not answer in time/);
  const reads = Array.from({ length: 12_000 }, async (_, index) => store.keys.findById(`${index}`));
  const settled = Promise.allSettled(reads);
  await expect(reads.at(-1)).rejects.toThrow(/too many operations wait/);
  await givenUp;
  await settled;
  await expect.poll(() => store.isWatching).toBe(true);
  expect(store.trouble).toBeNull();
  // On a busy machine, also this can take longer than the store waits.
  await expect.poll(async () => store.audit.append(batch)).toBeUndefined();
  await expect.poll(async () => store.audit.readAfter(0, 9)).toHaveLength(1);
});

/**
 * Processor time of one insert: above the time limit of a write, and low enough that the insert ends while the test
 * waits, also beside many other processes.
 */
const SLOW_MS = 6000;
/**
 * Maximum time that a write may block this thread. A write that waits here for the lock would block for at least a
 * second.
 */
const BLOCKED_MS_MAX = 500;
const TWO_BEATS_MS = 2 * BEAT_INTERVAL_MS;
const CLAIM = { client: 'c', fingerprint: 'f', attempt: 'one', runsForMs: 60_000, expiresInMs: 60_000 };
