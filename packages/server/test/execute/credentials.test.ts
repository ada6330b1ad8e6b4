/** Tests that many calls with wrong credentials do not reach Odoo, and disturb no other calls. */
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import { waitFor } from './expectations.ts';

const TTL_MS = 600;
let sandbox: Sandbox;
let proxy: ErpProxy;
/** A monotonic clock that the test advances. */
let nowMs = 1_000_000;
beforeAll(async () => {
  sandbox = await startSandbox({ authDelayMs: 100 });
});
afterAll(() => sandbox.close());
beforeEach(async () => {
  proxy = await startProxy({
    allow: [sandbox.url],
    settings: { 'upstream.refusedCredentialsTtlMs': String(TTL_MS) },
    nowMs: () => nowMs,
  });
  return () => proxy.close();
});

/** Sends a call with this key, so that each call can have its own credentials. */
const call = (api_key: string, more: Record<string, unknown> = {}) =>
  proxy.call(
    {
      id: 1,
      action: 'search_count',
      model_id: 'res.partner',
      params: [[]],
      erp_instance: {
        url: sandbox.url,
        db: sandbox.db,
        user_id: sandbox.users.admin.userId,
        api_key,
        ...more,
      },
    },
    { 'cache-control': 'no-cache' },
  );

const expectRefused = ({ status, json }: Awaited<ReturnType<typeof call>>) => {
  expect(status).toBe(200);
  expect(json).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: {
      code: 200,
      message: 'Access Denied',
      data: {
        type: 'access_denied',
        retryable: false,
        name: 'odoo.exceptions.AccessDenied',
        message: 'Access Denied',
        arguments: ['Access Denied'],
        context: {},
        status: 401,
      },
    },
  });
};

describe('50 calls with a wrong key reach Odoo once', () => {
  test('one after the other', async () => {
    const before = sandbox.requests.wrongKeys;
    for (let i = 0; i < 50; i++) expectRefused(await call('wrong-1'));
    expect(sandbox.requests.wrongKeys - before).toBe(1);
  });

  test('concurrently', async () => {
    const before = sandbox.requests.total;
    const answers = await Promise.all(Array.from({ length: 50 }, () => call('wrong-2')));
    for (const answer of answers) expectRefused(answer);
    expect(sandbox.requests.total - before).toBe(1);
  });

  test('in a batch', async () => {
    const before = sandbox.requests.total;
    const erp_instance = { url: sandbox.url, db: sandbox.db, user_id: 2, api_key: 'wrong-3' };
    const one = { action: 'search_count', model_id: 'res.partner', params: [[]], erp_instance };
    const { json } = await proxy.call(Array.from({ length: 50 }, () => one));
    expect(
      new Set(json.map((answer: { error: { data: { type: string } } }) => answer.error.data.type)),
    ).toEqual(new Set(['access_denied']));
    expect(sandbox.requests.total - before).toBe(1);
  });

  test('for writes and reads, whatever the model', async () => {
    const before = sandbox.requests.total;
    expectRefused(await call('wrong-4'));
    const other = await proxy.call({
      id: 1,
      action: 'unlink',
      model_id: 'sale.order',
      params: [[1]],
      erp_instance: { url: sandbox.url, db: sandbox.db, user_id: 2, api_key: 'wrong-4' },
    });
    expectRefused(other);
    expect(sandbox.requests.total - before).toBe(1);
  });

  test('for a user that does not exist', async () => {
    const before = sandbox.requests.total;
    for (let i = 0; i < 5; i++) {
      const { json } = await call('any', { user_id: 4711 });
      expect(json.error.code).toBe(200);
      expect(json.error.data.type).toBe('access_denied');
    }
    expect(sandbox.requests.total - before).toBe(1);
  });
});

test('asks Odoo again after the time has passed', async () => {
  const before = sandbox.requests.wrongKeys;
  await call('wrong-5');
  await call('wrong-5');
  expect(sandbox.requests.wrongKeys - before).toBe(1);
  nowMs += TTL_MS + 50;
  expectRefused(await call('wrong-5'));
  expect(sandbox.requests.wrongKeys - before).toBe(2);
});

describe('does not affect', () => {
  test('the correct key of the same user', async () => {
    const { apiKey } = sandbox.users.admin;
    const storm = Promise.all(Array.from({ length: 20 }, () => call('wrong-6')));
    const good = await Promise.all(Array.from({ length: 5 }, () => call(apiKey)));
    for (const { json } of good) expect(json.result).toBeGreaterThan(0);
    await storm;
    expect((await call(apiKey)).json.result).toBeGreaterThan(0);
  });

  test('the same wrong key for another user, database or address', async () => {
    const before = sandbox.requests.total;
    await call('wrong-7');
    await call('wrong-7', { user_id: 8 });
    await call('wrong-7', { db: 'other' });
    await call('wrong-7', { url: sandbox.url.replace('127.0.0.1', 'localhost') });
    expect(sandbox.requests.total - before).toBe(3);
  });

  test('a call that Odoo refuses for another reason than credentials', async () => {
    const { userId, apiKey } = sandbox.users.demo;
    const before = sandbox.requests.total;
    for (let i = 0; i < 3; i++) {
      const { json } = await proxy.call({
        action: 'unlink',
        model_id: 'res.partner',
        params: [[1]],
        erp_instance: { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey },
      });
      expect(json.error.data.type).toBe('access_error');
    }
    expect(sandbox.requests.total - before).toBe(3);
  });
});

test('can be turned off', async () => {
  const forgetful = closeAfterTest(
    await startProxy({
      allow: [sandbox.url],
      settings: { 'upstream.refusedCredentialsTtlMs': '0' },
    }),
  );
  const before = sandbox.requests.wrongKeys;
  const body = {
    action: 'read',
    model_id: 'res.partner',
    params: [[1]],
    erp_instance: { url: sandbox.url, db: sandbox.db, user_id: 2, api_key: 'wrong-8' },
  };
  await forgetful.post(body);
  await forgetful.post(body);
  expect(sandbox.requests.wrongKeys - before).toBe(2);
});

test('is logged as a call that was not sent', async () => {
  await call('wrong-9');
  await call('wrong-9');
  const lines = await waitFor(() => {
    const calls = proxy.log.filter((line) => line['msg'] === 'call');
    return calls.length === 2 && calls;
  });
  expect(lines).toMatchObject([
    { outcome: 'access_denied', attempts: 1, upstreamStatus: 200 },
    { outcome: 'access_denied', attempts: 0, upstreamStatus: null, upstreamMs: null },
  ]);
});
