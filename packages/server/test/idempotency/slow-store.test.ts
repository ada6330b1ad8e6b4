/** Answers to calls with an idempotency key while PostgreSQL is too slow. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestSchema, type TestSchema } from '../../src/stores/postgres/database.fixture.ts';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { answerTrue, makeCall, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';

const POSTGRES_URL = process.env['TEST_POSTGRES_URL'] ?? '';

/** Skipped without PostgreSQL. */
describe.skipIf(POSTGRES_URL === '')('while PostgreSQL does not answer', () => {
  let schema: TestSchema;
  let upstream: ScriptedUpstream;
  let proxy: RunningProxy;

  beforeEach(async () => {
    schema = await createTestSchema(POSTGRES_URL);
    upstream = await startUpstream(answerTrue);
    proxy = await startProxy({ allow: [upstream.url], settings: { 'store.url': schema.url } });
  });
  afterEach(async () => {
    await schema.query('ROLLBACK');
    await proxy.close();
    await upstream.close();
    await schema.drop();
  });

  const create = (key: string) =>
    proxy.call(makeCall(upstream.url, { action: 'create', params: [{}] }), { 'idempotency-key': key });

  test.each([
    ['the look-up before the claim', 'ACCESS EXCLUSIVE'],
    ['the claim', 'SHARE'],
  ])('%s has less time than other statements, and the call is not sent', async (_, mode) => {
    expect((await create('before')).status).toBe(200);
    await schema.query('BEGIN');
    await schema.query(`LOCK TABLE idempotency_keys IN ${mode} MODE`);
    await schema.query('LOCK TABLE instances IN ACCESS EXCLUSIVE MODE');
    let isOtherOver = false;
    const other = Promise.allSettled([proxy.app.store.instances.list({ after: null, limit: 1 })]).then(() => {
      isOtherOver = true;
    });
    const { status, json } = await create('meanwhile');
    expect(isOtherOver).toBe(false);
    await schema.query('ROLLBACK');
    await other;
    expect(status).toBe(503);
    expect(json.error).toMatchObject({ code: -32013, data: { outcome: 'not_sent', retryable: true } });
    expect(upstream.requests).toHaveLength(1);
  });
});
