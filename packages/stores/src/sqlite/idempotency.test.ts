import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createIdempotency } from '../idempotency.ts';
import type { IdempotencyStore } from '../ports/idempotency.ts';
import { createConnection } from './connection.ts';
import { migrate } from './migrations.ts';

const CLAIM = { client: 'c', fingerprint: 'f', attempt: 'one', runsForMs: 1000, expiresInMs: 2000 };

let now: number;
let database: DatabaseSync;
let store: IdempotencyStore;

beforeEach(() => {
  now = 1_000_000;
  database = new DatabaseSync(':memory:');
  migrate(database);
  const connection = createConnection(database, { clock: () => now });
  store = createIdempotency({ durable: connection, quick: connection });
});
afterEach(() => database.close());

/** Makes the database behave as if the disk had this many bytes left. */
function leaveBytes(bytes: number): void {
  const [pages, size] = ['page_count', 'page_size'].map((name) =>
    Number(database.prepare(`PRAGMA ${name}`).get()?.[name]),
  );
  database.exec(`PRAGMA max_page_count = ${(pages ?? 0) + Math.ceil(bytes / (size ?? 1))}`);
}

test('claims no key on a full disk, and claims keys again when there is space', async () => {
  leaveBytes(0);
  let claimed = 0;
  const fill = async () => {
    for (; claimed < 1000; claimed++) await store.claim({ ...CLAIM, id: `${claimed}` });
  };
  await expect(fill()).rejects.toThrow(/full/);
  expect(await store.find(`${claimed}`)).toBeNull();
  expect(await store.find(`${claimed - 1}`)).toMatchObject({ state: 'running' });
  leaveBytes(1_000_000);
  await fill();
  expect(await store.find('999')).toMatchObject({ state: 'running' });
});

test('a key stays claimed if its answer does not fit on the disk', async () => {
  await store.claim({ ...CLAIM, id: 'a' });
  leaveBytes(10_000);
  await expect((async () => store.complete('a', 'one', new Uint8Array(100_000), 2000))()).rejects.toThrow(
    /full/,
  );
  expect(await store.find('a')).toEqual({ fingerprint: 'f', state: 'running', answer: null });
  now += 1000;
  expect(await store.find('a')).toMatchObject({ state: 'outcome_unknown' });
});

test('applies times to the millisecond', async () => {
  await store.claim({ ...CLAIM, id: 'a' });
  const states: (string | undefined)[] = [];
  for (const at of [999, 1000, 1999, 2000]) {
    now = 1_000_000 + at;
    states.push((await store.find('a'))?.state);
    expect(await store.prune(1)).toBe(at === 2000 ? 1 : 0);
  }
  expect(states).toEqual(['running', 'outcome_unknown', 'outcome_unknown', undefined]);
});

test('finds expired keys and the totals of a client without reading other rows', () => {
  const plans = [
    'SELECT id FROM idempotency_keys WHERE expires_at <= 5 LIMIT 1',
    "SELECT id FROM idempotency_keys WHERE id = 'a'",
    "SELECT count(*), total(answer_bytes) FROM idempotency_keys WHERE client = 'c'",
  ].map((query) => String(database.prepare(`EXPLAIN QUERY PLAN ${query}`).get()?.['detail']));
  for (const plan of plans) expect(plan).toMatch(/^SEARCH /);
  expect(plans[2]).toContain('USING COVERING INDEX');
});

test('an attempt from before the clock was set back does not run until the clock is there again', async () => {
  await store.claim({ ...CLAIM, id: 'a', expiresInMs: 86_400_000 });
  now -= 3_600_000;
  expect(await store.find('a')).toMatchObject({ state: 'outcome_unknown' });
  expect(await store.claim({ ...CLAIM, id: 'a' })).toMatchObject({ state: 'outcome_unknown' });
  await store.complete('a', 'one', Buffer.from('7'), 2000);
  expect(await store.find('a')).toMatchObject({ state: 'done' });
});
