/** A store that an earlier release has written keeps what it has, and all of it can be read. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { buildKey, expectChain } from '../../server/test/stores/store-suite.ts';
import { openStore } from './open.ts';
import type { OpenedStore } from './ports/store.ts';
import { createTestSchema } from './postgres/database.fixture.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

function readDump(name: string): string {
  return readFileSync(new URL(`../../server/test/stores/${name}.sql`, import.meta.url), 'utf8');
}

test('SQLite, version 13', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-earlier-'));
  closeAfterTest({ close: () => rmSync(directory, { recursive: true, force: true }) });
  const database = new DatabaseSync(join(directory, 'store.db'));
  closeAfterTest(database);
  database.exec(readDump('sqlite-13'));
  const listColumns = () =>
    database
      .prepare(
        `SELECT tables.name || ' ' || columns.name || ' ' || columns.type || ' ' || columns.pk AS shape
         FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
      )
      .all();
  const before = listColumns();
  const store = await openStore(`sqlite:${directory}/store.db`);
  closeAfterTest(store);
  expect(store.migration).toEqual({ from: 13, to: 22 });
  // The columns of the earlier release stay as they are, so that its processes can go on.
  expect(listColumns()).toEqual(expect.arrayContaining(before));
  await expectEverything(store);
});

test.skipIf(SERVER_URL === '')('PostgreSQL, version 11', async () => {
  const schema = await createTestSchema(SERVER_URL);
  closeAfterTest({ close: schema.drop });
  await schema.query(readDump('postgres-11'));
  const store = await openStore(schema.url);
  closeAfterTest(store);
  expect(store.migration).toEqual({ from: 11, to: 20 });
  await expectEverything(store);
});

async function expectEverything(store: OpenedStore): Promise<void> {
  const page = { after: null, limit: 9 };
  const secretHash = new Uint8Array(32).fill(1);
  const first = buildKey({ id: 'a', name: 'Ünïcode 𝄞 "quotes"', policy: '{}', secretHash });
  const findKey = async (id: string) => {
    const key = await store.keys.findById(id);
    return { ...key, secretHash: Uint8Array.from(key?.secretHash ?? []) };
  };
  expect(await findKey('a')).toEqual({ ...first, expiresAt: 3, revokedAt: 4, version: 3 });
  expect(await findKey('b')).toEqual(
    buildKey({ id: 'b', clientId: 'a', createdAt: 2, lastUsedAt: 7, replaces: 'a', secretHash }),
  );
  expect((await store.keys.list(page)).map(({ id }) => id)).toEqual(['a', 'b']);
  expect(Buffer.from(await store.keys.getOrCreateHashSecret(new Uint8Array(32)))).toEqual(
    Buffer.alloc(32, 7),
  );

  const instance = { id: 'i', name: 'prod', masterKeyId: 'm', body: '{"url":"https://x"}', version: 1 };
  expect(await store.instances.list(page)).toEqual([instance]);

  const rows = await store.audit.readAfter(0, 9);
  expect(rows.map(({ seq, record }) => `${seq} ${record}`)).toEqual([
    '2 {"kind":"call","é":1}',
    '3 {"kind":"call"}',
  ]);
  expectChain(rows, (await store.audit.readFloor()) ?? undefined);
  const search = { beforeSeq: null, since: 1, filters: { kind: 'call' }, limit: 9, scanMax: 9 };
  expect((await store.audit.search(search)).rows.map(({ seq }) => seq)).toEqual([3, 2]);

  const known = { fingerprint: 'f', answer: null };
  expect(await store.idempotency.find('unknown')).toEqual({ ...known, state: 'outcome_unknown' });
  const done = await store.idempotency.find('done');
  expect([done?.state, ...(done?.answer ?? [])]).toEqual(['done', 0, 255, 10]);
  expect(await store.idempotency.measure('a')).toEqual({ keys: 2, answerBytes: 3 });

  expect(await store.callCounts.read('2026-11', 'a')).toBe(5_000_000_000);
  const decided = { decidedAt: 2, decidedBy: 'admin' };
  expect(await store.approvals.find('used')).toMatchObject({ ...decided, state: 'used', usedAt: 3 });
  expect(await store.approvals.find('refused')).toMatchObject({ ...decided, reason: 'no', call: null });
  expect(await store.approvals.find('pending')).toMatchObject({ state: 'pending', call: 'sealed' });
  expect(await store.deniedSubjects.list(null, 9)).toEqual([{ id: 'issuer/subject', deniedAt: 1 }]);
  expect(await store.operatorTokens.list(null, 9)).toEqual([]);
  expect(await store.operators.list(null, 9)).toEqual([]);
  expect(await store.connections.list(page)).toEqual([]);
  const hours = { step: 'hour', since: 0, until: 9, after: null, limit: 9 } as const;
  expect(await store.statistics.list(hours)).toEqual([
    { step: 'hour', startsAt: 1, process: 'p', body: '{}' },
  ]);

  expect(await store.subscriptions.readProgress('s', 9)).toMatchObject({
    subscription: { name: 'orders', state: 'active', readAt: 2, deliveredAt: 3 },
    progress: '{}',
    progressVersion: 1,
    waiting: 1,
  });
  const deliveries = await store.subscriptions.listDeliveries('s', { beforeSeq: null, limit: 9 });
  expect(deliveries.map(({ id, state }) => `${id} ${state}`)).toEqual(['d2 waiting', 'd1 delivered']);
  expect(await store.leases.acquire('job', 'two', 1000)).toBe(false);
}
