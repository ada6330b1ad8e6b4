import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApprovalRequest } from '../ports/approvals.ts';
import type { Store } from '../ports/store.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const BOUNDS = { clientMax: 1, totalMax: 10 };
/** The lock under which new requests are stored. */
const LOCK = 3_772_610_884_952;

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let store: Store;

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    store = await openPostgresStore(schema.url);
  });
  afterEach(async () => {
    await schema.query('SELECT pg_advisory_unlock_all()');
    await store.close();
    await schema.drop();
  });

  test('callers that repeat a call, or have too many that wait, occupy no connections of the store', async () => {
    const first = await store.approvals.ask(buildRequest('first'), BOUNDS);
    await schema.query(`SELECT pg_advisory_lock(${LOCK})`);
    // More calls than the store has connections.
    const repeated = Array.from({ length: 50 }, () => store.approvals.ask(buildRequest('first'), BOUNDS));
    const further = Array.from({ length: 50 }, (_, at) =>
      store.approvals.ask(buildRequest(`further ${at}`), BOUNDS),
    );
    expect(await store.keys.findById('any')).toBeNull();
    expect(await Promise.all(repeated)).toEqual(repeated.map(() => first));
    expect(await Promise.all(further)).toEqual(further.map(() => 'client_full'));
  });
});

function buildRequest(fingerprint: string): ApprovalRequest {
  return {
    id: `id of ${fingerprint}`,
    client: 'client',
    fingerprint,
    facts: '{}',
    call: 'sealed',
    createdAt: 1000,
    expiresAt: 2000,
  };
}
