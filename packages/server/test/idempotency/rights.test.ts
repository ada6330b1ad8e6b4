/**
 * Tests that a stored answer needs the same rights as the call, at the same server. A store that does not answer ends
 * the call in time.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';

const VAULT = { 'vault.masterKey': randomBytes(32).toString('base64') };
let upstream: ScriptedUpstream;
let proxy: ErpProxy;
afterEach(async () => {
  await proxy.close();
  await upstream.close();
});

async function start(): Promise<void> {
  upstream = await startUpstream((socket, _, index) =>
    answerLikeOdoo(socket, printResult(`"secret ${index}"`)),
  );
  proxy = await startProxy({ allow: [upstream.url], settings: VAULT });
}

test('a narrowed policy no longer gets answers that it must not read', async () => {
  await start();
  const policy = { origins: [upstream.url], models: { 'hr.employee': ['read'], 'res.partner': ['read'] } };
  const { key, record } = await proxy.app.keys.create({ name: 'app', policy });
  const read = () =>
    proxy.call(makeCall(upstream.url, { model_id: 'hr.employee' }), {
      'x-proxy-api': key,
      'idempotency-key': 'k',
    });
  expect((await read()).status).toBe(200);
  expect((await read()).headers['idempotency-replayed']).toBe('true');
  await proxy.app.keys.update(record.id, 1, { policy: { ...policy, models: { 'res.partner': ['read'] } } });
  expect((await read()).json.error.data).toMatchObject({ type: 'policy_denied' });
  expect(upstream.requests).toHaveLength(1);
});

test.each([
  ['companies', { companies: [1, 3] }, { companies: [3] }],
  ['limit_max', { limit_max: 100 }, { limit_max: 1 }],
])('an answer is not returned after `%s` were narrowed', async (_rule, before, after) => {
  await start();
  const policy = { origins: [upstream.url], models: { 'hr.employee': ['search_read', 'create'] } };
  const { key, record } = await proxy.app.keys.create({ name: 'app', policy: { ...policy, ...before } });
  const send = (action: string, params: unknown[]) =>
    proxy.call(makeCall(upstream.url, { model_id: 'hr.employee', action, params }), {
      'x-proxy-api': key,
      'idempotency-key': action,
    });
  expect((await send('search_read', [[]])).status).toBe(200);
  const created = await send('create', [{}]);
  await proxy.app.keys.update(record.id, 1, { policy: { ...policy, ...after } });
  expect((await send('search_read', [[]])).json.error.data.type).toBe('idempotency_conflict');
  // The write must never run twice, so its answer, which has only an id, is returned.
  expect((await send('create', [{}])).json).toEqual(created.json);
  expect(upstream.requests).toHaveLength(2);
});

test('a removed instance gives no stored answer, and an instance added again is another server', async () => {
  await start();
  const instance = {
    name: 'prod',
    url: upstream.url,
    db: 'prod',
    user_id: 2,
    api_key: 'key',
    key_expires_at: null,
  };
  await proxy.app.instances.add(instance);
  const create = () =>
    proxy.call(makeCall(upstream.url, { action: 'create', params: [{}], erp_instance: { name: 'prod' } }), {
      'idempotency-key': 'k',
    });
  expect((await create()).status).toBe(200);
  const record = (await proxy.app.instances.get('prod')) ?? expect.fail();
  expect(await proxy.app.instances.remove(record)).toBe('done');
  expect((await create()).json.error.data.path).toBe('erp_instance.name');
  await proxy.app.instances.add(instance);
  expect((await create()).json.error.data.type).toBe('idempotency_conflict');
});

test.each(['find', 'claim'] as const)(
  'a call whose store hangs at %s ends in time, and was not sent',
  async (step) => {
    await start();
    const store = proxy.app.store.idempotency;
    const held = Promise.withResolvers<null>();
    const original = store[step];
    Object.assign(store, { [step]: () => held.promise });
    const call = (seconds: string) =>
      proxy.call(makeCall(upstream.url, { action: 'create', params: [{}] }), {
        'idempotency-key': 'k',
        'x-request-timeout': seconds,
      });
    const { status, json } = await call('1');
    expect(status).toBe(503);
    expect(json.error.data).toMatchObject({ type: 'overloaded', outcome: 'not_sent', retryable: true });
    expect(upstream.requests).toHaveLength(0);
    held.resolve(null);
    Object.assign(store, { [step]: original });
    expect((await call('200')).json).toHaveProperty('result');
  },
);
