import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeAfterFile, closeAfterTest } from '../../server/test/close-after-test.ts';
import { runCommand } from '../../server/test/commands/run-command.ts';
import { buildConsent, buildSignInObject } from '../../server/test/stores/consent-suite.ts';
import { buildJob } from '../../server/test/stores/job-suite.ts';
import { buildKey, buildToken } from '../../server/test/stores/store-suite.ts';
import { makeBatch } from './audit-batch.fixture.ts';
import { copyStore } from './copy-store.ts';
import { findEngine } from './engines.ts';
import { openStore } from './open.ts';
import type { OpenedStore, Store } from './ports/store.ts';
import { createTestSchema, type TestSchema } from './postgres/database.fixture.ts';
import { StoreError } from './store-error.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const HOUR = 3_600_000;
const CLAIM = {
  id: 'claim',
  client: 'one',
  fingerprint: 'call',
  attempt: 'first',
  // Longer than the test takes on a busy machine, and shorter than what counts as a clock that was set back.
  runsForMs: 540_000,
  expiresInMs: HOUR,
};

/** The members of a store that store data. */
type PartName = {
  [Name in keyof Store]-?: NonNullable<Store[Name]> extends (...args: never[]) => unknown
    ? never
    : NonNullable<Store[Name]> extends object
      ? Name
      : never;
}[keyof Store];

/** Stores a row in each part. If the store gets a new part, the compiler asks for its function. */
const FILL: Record<PartName, (store: Store) => Promise<unknown>> = {
  async keys({ keys }) {
    await keys.insert(buildKey({ id: 'one', name: 'Ünïcode 𝄞 "quotes"', policy: '{"models":{}}' }));
    await keys.insert(buildKey({ id: 'two', expiresAt: Date.now() + HOUR }));
    await keys.getOrCreateHashSecret(Buffer.alloc(32, 7));
    for (let number = 0; number < 120; number++) await keys.insert(buildKey({ id: `more${number}` }));
  },
  async instances({ instances }) {
    await instances.insert({ id: 'i', name: 'prod', masterKeyId: 'm', body: '{"url":"https://x"}' });
  },
  async audit({ audit }) {
    await audit.append(makeBatch({ at: 5, record: '{"kind":"call"}' }, { at: HOUR, record: '{"é":1}' }));
    await audit.prune(6, 1);
    await audit.moveSink('file audit.ndjson', null, { seq: 1, hash: new Uint8Array(32).fill(3) });
  },
  async idempotency({ idempotency }) {
    await idempotency.claim(CLAIM);
    await idempotency.complete('claim', 'first', Buffer.from([0, 255, 10]), HOUR);
    await idempotency.claim({ ...CLAIM, id: 'running' });
  },
  callCounts: async ({ callCounts }) =>
    callCounts.add([{ period: '2026-11', clientId: 'one', calls: 5_000_000_000 }]),
  approvals: async ({ approvals }) =>
    approvals.ask(
      {
        id: 'a',
        client: 'one',
        fingerprint: 'f',
        facts: '{}',
        createdAt: 1,
        expiresAt: HOUR,
        call: 'sealed',
      },
      { clientMax: 9, totalMax: 9 },
    ),
  async operators({ operators }) {
    await operators.confirm({ id: 'corp/ada', name: 'Ada', granted: '{}', confirmedAt: 1 });
    await operators.endSession({ session: 's', keptUntil: HOUR, now: 1 });
  },
  consents: async ({ consents }) => consents.insert(buildConsent({ providerSession: 's' }), 9),
  signInObjects: async ({ signInObjects }) =>
    signInObjects.put(buildSignInObject({ consent: 'c1', consumedAt: 7 }), null),
  operatorTokens: async ({ operatorTokens }) => operatorTokens.insert(buildToken({ id: 'token' })),
  connections: async ({ connections }) => {
    await connections.put({
      instance: 'prod',
      person: 'corp/ann',
      instanceId: 'i',
      masterKeyId: 'm',
      body: '{}',
    });
  },
  deniedSubjects: async ({ deniedSubjects }) => deniedSubjects.deny({ id: 'corp/ann', deniedAt: 3 }),
  statistics: async ({ statistics }) =>
    statistics.put([{ step: 'hour', startsAt: HOUR, process: 'p', body: '{}' }]),
  async subscriptions({ subscriptions }) {
    const row = { id: 's', name: 'orders', body: '{"url":"https://a.example"}', createdAt: 1000 };
    await subscriptions.insert(row, 9);
    await subscriptions.holdShards('this', { ttlMs: HOUR, latestMs: HOUR });
    await subscriptions.commitReading('this', 's', 0, {
      progress: '{"from":1}',
      ids: { replacesAll: true, parts: [{ part: 0, ids: '7' }] },
      now: HOUR,
      deliveries: [{ id: 'd1', record: '7', type: 'res.partner.upserted', body: '{"id":7}' }],
    });
  },
  async jobs({ jobs }) {
    await jobs.add(buildJob({ id: 'j' }), { clientMax: 9, waitingMax: 9, bytesMax: HOUR });
    await jobs.claim('1', HOUR, 9, 1);
    await jobs.addPart('j', '1', 0, Buffer.from([0, 255, 10]));
  },
  leases: async ({ leases }) => leases.acquire('work', 'me', HOUR),
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erp-proxy-copy-'));
  // `closeAfterTest` closes in reverse order, so the folder is removed after its stores have closed.
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
});

const copy = (from: string, to: string) => copyStore(from, to, { isSnapshot: false });
const nameFile = () => `sqlite:${join(folder, `${randomUUID()}.db`)}`;

let filledFile: string;
beforeAll(async () => {
  const filledFolder = mkdtempSync(join(tmpdir(), 'erp-proxy-filled-'));
  closeAfterFile({ close: () => rmSync(filledFolder, { recursive: true }) });
  filledFile = join(filledFolder, 'store.db');
  const store = await openStore(`sqlite:${filledFile}`);
  for (const part of Object.values(FILL)) await part(store);
  await store.close();
});

/** Copies the filled file, and returns the URL of the copy. */
function makeFilled(): string {
  const url = nameFile();
  copyFileSync(filledFile, url.replace('sqlite:', ''));
  return url;
}

async function open(url: string): Promise<OpenedStore> {
  return closeAfterTest(await openStore(url));
}

async function expectCopy(url: string): Promise<void> {
  const copied = await open(url);
  const key = await copied.keys.findById('one');
  expect(key).toMatchObject({ name: 'Ünïcode 𝄞 "quotes"', policy: '{"models":{}}' });
  expect(Buffer.from(key!.secretHash)).toEqual(Buffer.from(buildKey({ id: 'one' }).secretHash));
  expect(Buffer.from(await copied.keys.getOrCreateHashSecret(Buffer.alloc(32, 9)))).toEqual(
    Buffer.alloc(32, 7),
  );
  expect(await copied.instances.findByName('prod')).toMatchObject({ body: '{"url":"https://x"}' });
  expect(await copied.audit.readFloor()).toMatchObject({ seq: 1 });
  expect(await copied.audit.readAfter(1, 9)).toMatchObject([{ seq: 2, at: HOUR, record: '{"é":1}' }]);
  const answered = await copied.idempotency.find('claim');
  expect(answered).toMatchObject({ state: 'done', fingerprint: 'call' });
  expect(Buffer.from(answered!.answer!)).toEqual(Buffer.from([0, 255, 10]));
  expect(await copied.idempotency.find('running')).toMatchObject({ state: 'running' });
  expect(await copied.callCounts.read('2026-11', 'one')).toBe(5_000_000_000);
  expect(await copied.approvals.find('a')).toMatchObject({ state: 'pending', call: 'sealed' });
  expect(await copied.deniedSubjects.find('corp/ann')).toMatchObject({ deniedAt: 3 });
  expect(await copied.operatorTokens.findById('token')).toMatchObject({ role: 'approver' });
  expect(await copied.connections.find('prod', 'corp/ann')).toMatchObject({ instanceId: 'i', body: '{}' });
  expect(await copied.subscriptions.findByName('orders')).toMatchObject({ id: 's' });
  expect(await copied.subscriptions.readProgress('s', 0)).toMatchObject({ progress: '{"from":1}', ids: '7' });
  expect(await copied.jobs.find('j')).toMatchObject({ state: 'running', facts: '{"model":"res.partner"}' });
  expect(Buffer.from((await copied.jobs.readPart('j', '1', 0))!)).toEqual(Buffer.from([0, 255, 10]));
  // A lease belongs to a process of the old store.
  expect(await copied.leases.acquire('work', 'another', HOUR)).toBe(true);
  // The next record continues the chain.
  await copied.audit.append(makeBatch({ at: 9, record: '{}' }));
  expect(await copied.audit.readHead()).toMatchObject({ seq: 3 });
}

test('copies every table of a SQLite file into another one', async () => {
  const [from, to] = [makeFilled(), nameFile()];
  const copied = await copy(from, to);
  expect(copied.filter(({ rows }) => rows === 0)).toEqual([]);
  await expectCopy(to);
});

test('copies the state of one moment while the store changes, for a backup', async () => {
  const [from, to] = [makeFilled(), nameFile()];
  const source = await open(from);
  let isCopying = true;
  const changing = (async () => {
    for (let at = 0; isCopying; at++) await source.deniedSubjects.deny({ id: `corp/${at}`, deniedAt: at });
  })();
  const tables = await copyStore(from, to, { isSnapshot: true });
  isCopying = false;
  await changing;
  const denied = tables.find(({ name }) => name === 'denied_subjects')!;
  expect((await (await open(to)).deniedSubjects.list(null, 100_000)).length).toBe(denied.rows);
  await expectCopy(to);
});

test('refuses a store that is missing, one in memory, and a target with rows', async () => {
  const [from, to] = [makeFilled(), nameFile()];
  await expect(copy(nameFile(), to)).rejects.toThrow(/There is no store/);
  await expect(copy(from, 'memory:')).rejects.toThrow(StoreError);
  const target = await open(to);
  await target.deniedSubjects.deny({ id: 'corp/bob', deniedAt: 1 });
  await expect(copy(from, to)).rejects.toThrow(/is not empty: the table denied_subjects has rows/);
  expect(await target.keys.isEmpty()).toBe(true);
});

test.each([
  ['nonsense', ['--to', 'nonsense'], '--to has no scheme: use '],
  ['nonsense in a file', ['--to-file', '-'], '--to-file has no scheme: use '],
  ['no file', ['--to', 'sqlite:'], '--to names no file: '],
  ['a folder', ['--to', 'sqlite:/proc/none/store.db'], 'Set --to to another place.'],
  ['nonsense as the source', ['--from', 'nonsense', '--to', 'memory:'], '--from has no scheme: use '],
])('the command names the option of a store that cannot be used: %s', async (_name, options, says) => {
  await runCommand(['keys', 'create', '--name', 'shop'], { folder });
  const { status, stderr } = await runCommand(['store', 'copy', ...options], { folder, input: 'nonsense\n' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(says) });
  expect(stderr).not.toContain('store.url');
});

describe.skipIf(SERVER_URL === '')('with the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    closeAfterTest({ close: () => schema.drop() });
  });

  test('both engines have the same tables and columns', async () => {
    const lists: unknown[] = [];
    for (const url of [nameFile(), schema.url]) {
      await (await openStore(url)).close();
      const tables = await findEngine(url).openTables!(url, 'read');
      lists.push(await tables.list());
      await tables.close();
    }
    expect(lists[0]).toEqual(lists[1]);
  });

  test('copies a table that both engines have without further work, and numbers new rows after its rows', async () => {
    const from = nameFile();
    for (const url of [from, schema.url]) await (await openStore(url)).close();
    const file = new DatabaseSync(from.replace('sqlite:', ''));
    file.exec(`CREATE TABLE parts (seq INTEGER PRIMARY KEY AUTOINCREMENT, "order" TEXT NOT NULL, size INTEGER) STRICT;
      INSERT INTO parts VALUES (3, 'a', NULL), (7, 'b', 2)`);
    file.close();
    await schema.query(
      'CREATE TABLE parts (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "order" text NOT NULL, size integer)',
    );
    expect(await copy(from, schema.url)).toContainEqual({ name: 'parts', rows: 2 });
    await schema.query(`INSERT INTO parts ("order") VALUES ('c')`);
    expect(await schema.query('SELECT seq::integer, "order", size FROM parts ORDER BY seq')).toEqual([
      { seq: 3, order: 'a', size: null },
      { seq: 7, order: 'b', size: 2 },
      { seq: 8, order: 'c', size: null },
    ]);
  });

  test('copies a SQLite file to PostgreSQL, and back', async () => {
    const [from, back] = [makeFilled(), nameFile()];
    const copied = await copy(from, schema.url);
    expect(copied.filter(({ rows }) => rows === 0)).toEqual([]);
    expect(await copy(schema.url, back)).toEqual(copied);
    await expectCopy(schema.url);
    await expectCopy(back);
  });

  test('notices that the source changes meanwhile, and writes nothing', async () => {
    const from = makeFilled();
    const source = await open(from);
    let isCopying = true;
    const change = async () => {
      for (let at = 0; isCopying; at++) await source.deniedSubjects.deny({ id: `corp/${at}`, deniedAt: at });
    };
    const changing = change();
    await expect(copy(from, schema.url)).rejects.toThrow(/denied_subjects .+ has changed while/);
    isCopying = false;
    await changing;
    expect(await (await open(schema.url)).keys.isEmpty()).toBe(true);
  });

  test('the command moves keys, instances and the audit, and verifies the audit', async () => {
    const run = (...args: string[]) => runCommand(args, { folder, input: `${schema.url}\n` });
    await run('keys', 'create', '--name', 'shop');
    const head = /head (.+)/.exec((await run('audit', 'verify')).stdout)?.[1];
    const copied = await run('store', 'copy', '--to-file', '-');
    expect(copied).toMatchObject({ status: 0, stdout: expect.stringContaining('client_keys: 1\n') });
    expect(copied.stdout).toContain('its audit is intact up to record 1');
    const onCopy = { folder, env: { ERP_PROXY_STORE_URL: schema.url } };
    expect((await runCommand(['keys', 'list'], onCopy)).stdout).toContain('shop');
    expect((await runCommand(['audit', 'verify', '--head', head!], onCopy)).status).toBe(0);
    const again = await run('store', 'copy', '--to-file', '-');
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('is not empty') });
  });
});
