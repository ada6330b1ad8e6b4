/** A connection to PostgreSQL that breaks during a commit. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWire, type Wire } from '../../../server/test/postgres-wire.ts';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { Store } from '../ports/store.ts';
import { StoreError, UnknownOutcomeError } from '../store-error.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let wire: Wire;
  /** Connected to the server through `wire`. */
  let store: Store;
  /** Connected to the server directly. */
  let other: Store;

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    wire = await createWire(new URL(schema.url));
    store = await openPostgresStore(wire.url);
    other = await openPostgresStore(schema.url);
    await other.keys.insert(buildKey({ id: 'a' }));
  });
  afterEach(async () => {
    await store.close();
    await other.close();
    await wire.close();
    await schema.drop();
  });

  const rename = async () => store.keys.update('a', 1, { name: 'other' }, makeBatch({ at: 1, record: '{}' }));
  const readName = async () => (await other.keys.findById('a'))?.name;
  const countAuditRecords = async () => (await other.audit.readAfter(0, 10)).length;

  test('a change is done if only the answer was lost', async () => {
    wire.atCommit = 'lose the answer';
    expect(await rename()).toBe('done');
    expect([await readName(), await countAuditRecords()]).toEqual(['other', 1]);
  });

  test('nothing is changed if the commit did not arrive, and the caller can try again', async () => {
    wire.atCommit = 'lose the commit';
    const refused = await rename().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused).not.toBeInstanceOf(UnknownOutcomeError);
    expect(refused).toMatchObject({ message: expect.stringContaining('Nothing was changed') });
    expect([await readName(), await countAuditRecords()]).toEqual(['test', 0]);
    expect(await rename()).toBe('done');
  });

  test('the outcome is unknown if the server is gone after the commit', async () => {
    wire.atCommit = 'lose the server';
    await expect(rename()).rejects.toThrow(UnknownOutcomeError);
    expect([await readName(), await countAuditRecords()]).toEqual(['other', 1]);
  });

  test('a batch of the audit that is passed again after that is there once', async () => {
    const batch = makeBatch({ at: 1, record: '{"n":1}' }, { at: 1, record: '{"n":2}' });
    wire.atCommit = 'lose the server';
    await expect((async () => store.audit.append(batch))()).rejects.toThrow(UnknownOutcomeError);
    wire.restore();
    await other.audit.append(makeBatch({ at: 2, record: '{"n":3}' }));
    await store.audit.append(batch);
    await store.audit.append(makeBatch({ at: 3, record: '{"n":4}' }));
    const rows = await other.audit.readAfter(0, 10);
    expect(rows.map(({ record }) => JSON.parse(record).n)).toEqual([1, 2, 3, 4]);
  });
});
