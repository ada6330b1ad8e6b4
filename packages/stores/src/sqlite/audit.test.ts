import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { expectCpuBelow } from '../../../server/test/time.ts';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { AuditSearch, AuditStore } from '../ports/audit.ts';
import { createSqliteAudit } from './audit.ts';
import { migrate } from './migrations.ts';

const HOUR_MS = 3_600_000;

let database: DatabaseSync;
let audit: AuditStore;

beforeEach(async () => {
  database = new DatabaseSync(':memory:');
  migrate(database);
  audit = createSqliteAudit(database);
  const times = Array.from({ length: 1000 }, (_, index) => Math.floor(index / 10) * HOUR_MS + index);
  await audit.append(makeBatch(...times.map((at) => ({ at, record: '{"model":"res.partner"}' }))));
});
afterEach(() => database.close());

test('a search reads only the hours in its range, however many others there are', async () => {
  expect(await search({ since: 50 * HOUR_MS, until: 51 * HOUR_MS, scanMax: 20 })).toEqual({
    seqs: [510, 509, 508, 507, 506, 505, 504, 503, 502, 501],
    next: null,
  });
  expect(await search({ since: 1000 * HOUR_MS, scanMax: 20 })).toEqual({ seqs: [], next: null });
});

test('retention also removes the hours of its rows', async () => {
  expect(await audit.prune(50 * HOUR_MS, 1000)).toBe(500);
  expect(database.prepare('SELECT min(hour) AS first, count(*) AS count FROM audit_hours').get()).toEqual({
    first: 50,
    count: 50,
  });
  expect(await search({ until: 50 * HOUR_MS, scanMax: 20 })).toEqual({ seqs: [], next: null });
});

test.each([
  ['all hours', 'DELETE FROM audit_hours'],
  ['rows of the newest hour', 'DELETE FROM audit_hours WHERE hour = 99'],
  ['rows of the oldest hour', 'DELETE FROM audit_hours WHERE hour = 0'],
])('a search without times finds every row even if %s were removed by hand', async (_what, sql) => {
  database.exec(sql);
  const { seqs } = await search({ limit: 2000 });
  expect([seqs.length, seqs[0], seqs.at(-1)]).toEqual([1000, 1000, 1]);
});

test('a search without times begins at the newest row, whatever the stored end of the chain', async () => {
  database.exec('UPDATE audit_chain SET head_seq = 9000000000000000');
  expect((await search({ limit: 1 })).seqs).toEqual([1000]);
});

test.each(['9223372036854775807', '-5'])('nothing is appended if the stored end is %s', async (seq) => {
  database.exec(`UPDATE audit_chain SET head_seq = ${seq}`);
  await expect((async () => audit.append(makeBatch({ at: 1, record: '{}' })))()).rejects.toMatchObject({
    name: 'StoreError',
    reason: /audit_chain/,
  });
});

test.each([
  ['finds the rows to remove', (it: AuditStore) => it.prune(-1, 10)],
  [
    'searches the newest rows',
    (it: AuditStore) => it.search({ beforeSeq: null, filters: {}, limit: 10, scanMax: 10 }),
  ],
])('%s without reading all rows, however many there are', async (_what, run) => {
  const repeat = (audit: AuditStore) => async () => {
    for (let count = 0; count < 50; count++) await run(audit);
  };
  const large = new DatabaseSync(':memory:');
  migrate(large);
  large.exec(
    `WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 100000)
       INSERT INTO audit SELECT n, ${200 * HOUR_MS}, '{}', zeroblob(32) FROM row;
     UPDATE audit_chain SET head_seq = 100000`,
  );
  await expectCpuBelow(10, repeat(createSqliteAudit(large)), repeat(audit));
  large.close();
});

test('does not append a batch again that an earlier thread appended without an answer', async () => {
  const batch = makeBatch({ at: 1, record: '{"n":1}' }, { at: 2, record: '{"n":2}' });
  await audit.append(batch);
  await audit.append(makeBatch({ at: 3, record: '{"n":3}' }));
  const again = createSqliteAudit(database, { isSuccessor: true });
  await again.append(batch);
  await again.append(makeBatch({ at: 4, record: '{"n":4}' }));
  const records = (await again.readAfter(1000, 9)).map(({ record }) => record);
  expect(records).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']);
});

async function search(query: Partial<AuditSearch>) {
  const found = await audit.search({ beforeSeq: null, filters: {}, limit: 100, scanMax: 1000, ...query });
  return { seqs: found.rows.map((row) => row.seq), next: found.next };
}
