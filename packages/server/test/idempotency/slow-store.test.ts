/** Tests answers to calls with an idempotency key while the store is too slow. */

import { createTestSchema, type TestSchema } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { answerTrue, makeCall, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';
import { passTurns } from '../time.ts';

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

describe('look-up and claim together have a second', () => {
  const SECOND_MS = 1000;
  let now: number;
  let upstream: ScriptedUpstream;
  let proxy: RunningProxy;
  /** By name of an operation of the store: the function that lets it end. */
  let ends: Record<string, () => void>;

  beforeEach(async () => {
    now = 0;
    upstream = closeAfterTest(await startUpstream(answerTrue));
    proxy = closeAfterTest(await startProxy({ allow: [upstream.url], nowMs: () => now }));
    ends = {};
    const { idempotency } = proxy.app.store;
    const { find, claim } = idempotency;
    const wait = (name: string) =>
      new Promise<void>((resolve) => {
        ends[name] = resolve;
      });
    Object.assign(idempotency, {
      find: async (id: string) => wait('find').then(() => find(id)),
      claim: async (row: Parameters<typeof claim>[0]) => wait('claim').then(() => claim(row)),
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    closeAfterTest({ close: () => vi.useRealTimers() });
  });

  async function askFor(name: string, ms: number): Promise<void> {
    // Unlike `expect.poll`, this does not move the clock.
    while (ends[name] === undefined) await passTurns();
    now += ms;
    await vi.advanceTimersByTimeAsync(ms);
  }

  test.each([
    [999, 0, 200],
    [1000, 0, 503],
    [0, 999, 200],
    [0, 1000, 503],
    [600, 399, 200],
    [600, 400, 503],
  ])('%i ms and %i ms: the answer is %i', async (findMs, claimMs, status) => {
    const answer = proxy.call(makeCall(upstream.url, { action: 'create', params: [{}] }), {
      'idempotency-key': 'a',
    });
    await askFor('find', findMs);
    if (findMs < SECOND_MS) {
      ends['find']?.();
      await askFor('claim', claimMs);
      if (findMs + claimMs < SECOND_MS) ends['claim']?.();
    }
    expect((await answer).status).toBe(status);
    expect(upstream.requests).toHaveLength(status === 200 ? 1 : 0);
    for (const end of Object.values(ends)) end();
  });
});
