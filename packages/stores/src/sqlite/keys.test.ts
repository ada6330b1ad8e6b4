import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { createKeys } from '../keys.ts';
import { createConnection } from './connection.ts';
import { migrate } from './migrations.ts';

/** Records the text of each statement, so that the test can read its query plan. */
class RecordingDatabase extends DatabaseSync {
  readonly statements: string[] = [];

  override prepare(text: string): StatementSync {
    this.statements.push(text);
    return super.prepare(text);
  }
}

function openKeys(database: DatabaseSync) {
  const connection = createConnection(database);
  return createKeys({ durable: connection, quick: connection });
}

test('every statement uses an index: none reads all keys or sorts them', async () => {
  const database = new RecordingDatabase(':memory:');
  migrate(database);
  database.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
     INSERT INTO client_keys (id, name, secret_hash, created_at)
       SELECT 'key ' || n, 'name ' || (n / 2), zeroblob(32), n FROM numbers;
     ANALYZE;`,
  );
  database.statements.length = 0;
  const keys = openKeys(database);
  await keys.findById('key 7');
  for (const filter of [{}, { name: 'name 7' }, { search: '7' }, { name: 'name 7', search: '7' }]) {
    await keys.list({ after: { createdAt: 5, id: 'key 5' }, limit: 2, ...filter });
    await keys.list({
      after: { createdAt: 5, id: 'key 5' },
      limit: 2,
      ...filter,
      state: { is: 'active', now: 9 },
    });
  }
  await keys.listNames(['key 7']);
  await keys.listEnding(1, 2, 3);
  await keys.isEmpty();
  await keys.update('key 7', 1, { name: 'new', policy: '{}', expiresAt: 5 });
  await keys.revoke('key 7', 5);
  await keys.rotate('key 8', 1, { now: 5, expiresAt: 6, successor: buildKey({ id: 'successor' }) });
  await keys.touch(new Map([['key 7', 5]]));
  const plans = database.statements.map((statement) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${statement}`)
      .all()
      .map((row) => String(row['detail']))
      .join('; '),
  );
  const used = plans.filter((plan) => plan.includes('client_keys'));
  expect(used.filter((plan) => /SCAN (client_keys|others)/.test(plan))).toEqual([
    // The query of `isEmpty` stops at the first key.
    expect.stringContaining('SCAN client_keys USING COVERING INDEX'),
  ]);
  expect(used.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
  expect(used.length).toBeGreaterThan(15);
  // The index has every column that a search compares.
  const searches = used.filter((plan) => /^SEARCH .* COVERING INDEX client_keys_to_search/.test(plan));
  expect(searches).toHaveLength(5);

  const middle = await keys.list({ after: { createdAt: 50_000, id: 'key 50000' }, limit: 2 });
  expect(middle.map((key) => key.id)).toEqual(['key 50001', 'key 50002']);
  const named = await keys.list({ after: null, limit: 10, name: 'name 40000' });
  expect(named.map((key) => key.id)).toEqual(['key 80000', 'key 80001']);
  database.close();
});

test('searches more keys than one slice has, and lists each key once and in order', async () => {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  database.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 30000)
     INSERT INTO client_keys (id, name, secret_hash, created_at, revoked_at)
       SELECT 'key ' || n, iif(n % 7000 = 0, 'rare', 'common'), zeroblob(32), n / 3, iif(n % 7000 = 0, 5, NULL)
       FROM numbers;`,
  );
  const keys = openKeys(database);
  const rare = ['key 7000', 'key 14000', 'key 21000', 'key 28000'];
  for (const filter of [
    { search: 'RARE' },
    { state: { is: 'revoked', now: 9 } as const },
    { name: 'rare', search: 'a' },
  ]) {
    const found = await keys.list({ after: null, limit: 10, ...filter });
    expect(found.map((key) => key.id)).toEqual(rare);
    const first = await keys.list({ after: null, limit: 3, ...filter });
    const last = await keys.list({ after: first.at(-1) ?? null, limit: 3, ...filter });
    expect([...first, ...last].map((key) => key.id)).toEqual(rare);
  }
  const all: string[] = [];
  let after: { createdAt: number; id: string } | null = null;
  for (let page = await keys.list({ after, limit: 900, search: 'key' }); page.length > 0; ) {
    all.push(...page.map((key) => key.id));
    after = page.at(-1) ?? null;
    page = await keys.list({ after, limit: 900, search: 'key' });
  }
  expect(all).toHaveLength(30_000);
  expect(new Set(all).size).toBe(30_000);
  database.close();
});
