/** The store behind PgBouncer. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HAS_POOLER, type Pooler, type PoolerOptions, startPooler } from '../../../server/test/pooler.ts';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import type { Store, StoreChange } from '../ports/store.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const TIME_LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

describe.skipIf(SERVER_URL === '' || !HAS_POOLER)('with TEST_POSTGRES_URL and pgbouncer', () => {
  let schema: TestSchema;
  let pooler: Pooler | undefined;
  const stores: Store[] = [];
  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await pooler?.close();
    pooler = undefined;
    await schema.drop();
  });

  async function startWith(options: Pick<PoolerOptions, 'mode' | 'ignored'>): Promise<string> {
    const name = /search_path=(\w+)/.exec(decodeURIComponent(schema.url))?.[1] ?? '';
    pooler = await startPooler(SERVER_URL, { ...options, schema: name });
    return pooler.url;
  }

  async function open(url: string): Promise<Store> {
    const store = await openPostgresStore(url);
    stores.push(store);
    return store;
  }

  test.each(['session', 'transaction'] as const)(
    'says what to set if the pooler refuses the time limits: mode %s',
    async (mode) => {
      const url = await startWith({ mode, ignored: [] });
      await expect(open(url)).rejects.toThrow(/a pooler refuses .*ignore_startup_parameters/s);
    },
  );

  test('refuses a pooler in transaction mode, which would lose changes of keys', async () => {
    const url = await startWith({ mode: 'transaction', ignored: TIME_LIMITS });
    await expect(open(url)).rejects.toThrow(/pooler in transaction mode.*session mode/s);
  });

  test('works with a pooler in session mode, and learns of changes that others make', async () => {
    const url = await startWith({ mode: 'session', ignored: TIME_LIMITS });
    const store = await open(url);
    const other = await open(schema.url);
    const told: (StoreChange | null)[] = [];
    store.watch((change) => told.push(change));
    await other.keys.insert(buildKey({ id: 'a' }));
    await expect.poll(() => told).toEqual([{ kind: 'key', id: 'a' }]);
    await store.keys.revoke('a', 5);
    expect((await other.keys.findById('a'))?.revokedAt).toBe(5);
    expect(store.isWatching).toBe(true);
  });
});
