/** An audit in PostgreSQL whose stored ends were changed by hand. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeBatch } from '../audit-batch.fixture.ts';
import type { Store } from '../ports/store.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let store: Store;
  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    store = await openPostgresStore(schema.url);
    await store.audit.append(makeBatch(...[1, 2, 3].map((at) => ({ at, record: '{"model":"a"}' }))));
  });
  afterEach(async () => {
    await store.close();
    await schema.drop();
  });

  const append = async () => store.audit.append(makeBatch({ at: 4, record: '{}' }));
  async function search(filters = {}): Promise<number[]> {
    const { rows } = await store.audit.search({ beforeSeq: null, filters, limit: 10, scanMax: 100 });
    return rows.map(({ seq }) => seq);
  }

  test.each(['9223372036854775807', '9007199254740991', '-5', '-9223372036854775808'])(
    'an end of %s is read as a number, and nothing is appended after it',
    async (seq) => {
      await schema.query(`UPDATE audit_chain SET head_seq = ${seq}`);
      expect(Number.isSafeInteger((await store.audit.readHead())?.seq)).toBe(true);
      await expect(append()).rejects.toMatchObject({ name: 'StoreError', reason: /audit_chain/ });
      expect(await store.audit.readAfter(0, 10)).toHaveLength(3);
    },
  );

  test.each(['9223372036854775807', '9007199254740991'])(
    'a search begins at the newest row although the stored end is %s',
    async (seq) => {
      await schema.query(`UPDATE audit_chain SET head_seq = ${seq}`);
      expect(await search()).toEqual([3, 2, 1]);
      expect(await search({ model: 'a' })).toEqual([3, 2, 1]);
    },
  );

  test.each(['9223372036854775807', '-9223372036854775808'])(
    'a beginning of %s is read as a number',
    async (seq) => {
      await schema.query(`UPDATE audit_chain SET floor_seq = ${seq}`);
      expect(Number.isSafeInteger((await store.audit.readFloor())?.seq)).toBe(true);
      await search();
      await append();
      expect(await store.audit.readAfter(Number.MIN_SAFE_INTEGER, 10)).toHaveLength(4);
    },
  );
});
