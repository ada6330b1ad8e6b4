/** Operators who are limited to some of the instances: how they are limited, narrowed and told so. */
import type { Policy } from '@erp-proxy/contract';
import { ADMIN_ROUTES } from '@erp-proxy/http/admin/table';
import type { Store } from '@erp-proxy/stores/ports';
import { expect, test } from 'vitest';
import { type Json, SETTINGS, startAdmin } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { answerTrue, makeCall, startUpstream } from '../scripted-upstream.ts';
import { Browser, describeOperators, PUBLIC_URL, startScriptedProvider } from './scripted-provider.ts';
import { startTwoProxies } from './two-proxies.ts';

const MINUTE_MS = 60_000;
const A: Policy = { instances: ['client-a-*'], models: { '*': ['read'] } };
const RULES = [
  { claim: 'groups', value: 'all', role: 'admin' },
  { claim: 'groups', value: 'a', role: 'operator', instances: ['client-a-*'] },
  { claim: 'groups', value: 'a-test', role: 'viewer', instances: ['client-a-test', 'client-b-*'] },
];

async function signIn(groups: string[]) {
  const provider = await startScriptedProvider();
  provider.claims = { groups };
  const time = { passedMs: 0 };
  const proxy = closeAfterTest(
    await startProxy({
      clock: () => Date.now() + time.passedMs,
      settings: { ...SETTINGS, ...describeOperators(provider), 'operators.rules': JSON.stringify(RULES) },
    }),
  );
  const browser = new Browser(proxy);
  expect(await browser.signIn()).toBe(`${PUBLIC_URL}/`);
  const renewAs = async (next: string[]) => {
    provider.claims = { groups: next };
    time.passedMs += 61 * MINUTE_MS;
    return await browser.session();
  };
  const ask = async (path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await browser.ask(`/admin/v1${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers,
    });
    return { status: answer.status, json: JSON.parse(answer.body.toString()) as Json };
  };
  return { proxy, browser, renewAs, ask };
}

const listActions = async ({ app }: { app: { store: Store; audit: { flush(): Promise<void> } } }) => {
  await app.audit.flush();
  const rows = await app.store.audit.readAfter(0, 100);
  return rows.map(({ record }) => JSON.parse(record) as Json);
};

test('a rule limits a person to instances, which the session shows', async () => {
  const { browser, ask } = await signIn(['a']);
  expect((await browser.session()).json).toMatchObject({
    role: 'operator',
    instances: ['client-a-*'],
    other_roles: [],
  });
  expect((await ask('/keys', { name: 'mine', policy: A })).status).toBe(201);
  const refused = await ask('/keys', { name: 'theirs', policy: { ...A, instances: ['client-*'] } });
  expect(refused.status).toBe(400);
  expect(refused.json.faults).toEqual([
    { path: 'policy', message: expect.stringContaining('among those that you may use (client-a-*)') },
  ]);
});

test('the first rule decides, and what others would give is in the session and in the audit', async () => {
  const { browser, proxy } = await signIn(['a-test', 'a', 'all']);
  expect((await browser.session()).json).toMatchObject({
    role: 'admin',
    instances: null,
    other_roles: ['viewer', 'operator'],
  });
  const login = (await listActions(proxy)).find(({ action }) => action === 'login.person');
  expect(login.changes).toEqual({
    way: { from: null, to: 'provider' },
    role: { from: null, to: 'admin' },
    other_roles: { from: null, to: ['viewer', 'operator'] },
  });
});

test('when the rule of a person changes, the session and the tokens of the person are narrowed', async () => {
  const { proxy, ask, renewAs } = await signIn(['all']);
  const make = async (name: string, more: object) =>
    (await ask('/tokens', { name, role: 'admin', ...more })).json as { id: string; token: string };
  const wide = await make('wide', {});
  const mixed = await make('mixed', { role: 'viewer', instances: ['client-a-prod', 'client-b-prod'] });
  const foreign = await make('foreign', { instances: ['client-b-prod'] });
  const session = async ({ token }: { token: string }) => {
    const answer = await send(`${proxy.url}/admin/v1/session`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { role, instances } = JSON.parse(answer.body.toString());
    return answer.status === 200 ? { role, instances } : answer.status;
  };
  expect(await session(wide)).toEqual({ role: 'admin', instances: null });

  expect((await renewAs(['a'])).json).toMatchObject({ role: 'operator', instances: ['client-a-*'] });
  expect(await session(wide)).toEqual({ role: 'operator', instances: ['client-a-*'] });
  expect(await session(mixed)).toEqual({ role: 'viewer', instances: ['client-a-prod'] });
  expect(await session(foreign)).toEqual({ role: 'operator', instances: [] });

  await renewAs(['all']);
  expect(await session(wide)).toEqual({ role: 'admin', instances: null });
  await renewAs(['nobody']);
  expect(await session(wide)).toBe(401);
});

test('a limited administrator makes tokens that reach no further, and sees no others', async () => {
  const { post, get } = await startAdmin();
  const make = async (input: object, token?: string) => post('/tokens', input, token ? { token } : {});
  const own = (await make({ name: 'own', role: 'admin', instances: ['client-a-*', 'shared'] })).json;
  const token: string = own.token;
  for (const instances of [null, ['*'], ['client-*'], ['client-a-*', 'b']]) {
    expect((await make({ name: 'x', role: 'viewer', instances }, token)).json.faults).toEqual([
      expect.objectContaining({ path: 'instances' }),
    ]);
  }
  const first = (await make({ name: 'first', role: 'viewer' }, token)).json;
  expect(first.instances).toEqual(['client-a-*', 'shared']);
  const second = (await make({ name: 'second', role: 'viewer', instances: ['client-a-1'] }, token)).json;
  const { items } = (await get('/tokens', { token })).json;
  expect(items.map(({ id }: Json) => id).toSorted()).toEqual([first.id, second.id].toSorted());
  expect((await post(`/tokens/${own.id}/revoke`, undefined, { token: first.token })).status).toBe(403);
  const other = (await make({ name: 'other', role: 'admin' })).json;
  expect((await post(`/tokens/${other.id}/revoke`, undefined, { token })).status).toBe(404);
});

test('the playground of a limited operator knows no foreign instance, and takes no credentials', async () => {
  const upstream = closeAfterTest(await startUpstream(answerTrue));
  const { proxy, post } = await startAdmin({ allow: [upstream.url] });
  const server = { url: upstream.url, db: 'prod', user_id: 2, api_key: 'odoo-secret-1' };
  for (const name of ['client-a', 'client-b']) await post('/instances', { ...server, name });
  const global = (await post('/keys', { name: 'global' })).json;
  await post(`/keys/${global.id}/revoke`);
  const { token } = (await post('/tokens', { name: 'a', role: 'operator', instances: ['client-a'] })).json;
  const ask = async (path: string, body: object) => {
    const answer = await send(`${proxy.url}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: JSON.parse(answer.body.toString()) as Json };
  };
  const print = (erp_instance: object) =>
    ask('/document', { document: { id: 1, model_id: 'sale.order', record: 1, erp_instance } });
  const execute = (instance: unknown, more: object = {}) => {
    const call = {
      id: 1,
      action: 'read',
      model_id: 'res.partner',
      params: [[1]],
      keyword: {},
      erp_instance: instance,
    };
    return ask('/execute', { call, ...more });
  };
  expect((await execute({ name: 'client-a' })).json.result).toBe(true);
  const absent = await execute({ name: 'absent' });
  const foreign = await execute({ name: 'client-b' });
  const withoutId = ({ status, json }: Json) => {
    const { request_id: _, ...data } = json.error.data;
    return { status, error: { ...json.error, data } };
  };
  expect(withoutId(foreign)).toEqual(withoutId(absent));
  const { erp_instance: own } = makeCall(upstream.url) as Json;
  expect((await execute(own)).json.error.data.type).toBe('policy_denied');
  expect(withoutId(await print({ name: 'client-b' }))).toEqual(withoutId(await print({ name: 'absent' })));
  expect((await print(own)).json.error.data.type).toBe('policy_denied');
  // A revoked key of others is as unknown as no key.
  const refused = await execute({ name: 'client-a' }, { key_id: global.id });
  expect(refused).toMatchObject({ status: 404, json: { detail: `There is no key "${global.id}".` } });
  expect(upstream.requests).toHaveLength(1);
});

test('a limited operator opens no way into the network of the proxy', async () => {
  const { post, patch, get } = await startAdmin();
  const server = { url: 'http://10.0.0.1', db: 'x', user_id: 2, api_key: 'odoo-secret-1' };
  await post('/instances', { ...server, name: 'client-a-old', allow_private: true });
  const { token } = (await post('/tokens', { name: 'a', role: 'operator', instances: ['client-a-*'] })).json;
  const faults = [{ path: 'allow_private', message: expect.stringContaining('opens the network') }];
  const isPrivate = { ...server, allow_private: true };
  expect((await post('/instances', { ...isPrivate, name: 'client-a-new' }, { token })).json.faults).toEqual(
    faults,
  );
  expect((await post('/instances/check', isPrivate, { token })).json.faults).toEqual(faults);
  const moved = { url: 'http://10.0.0.2', api_key: 'odoo-secret-1' };
  expect((await patch('/instances/client-a-old', moved, { token })).json.faults).toEqual(faults);
  expect((await patch('/instances/client-a-old', { user_id: 3 }, { token })).status).toBe(200);
  expect((await get('/instances/client-a-old')).json.url).toBe('http://10.0.0.1');
});

test('an operation that the rights of somebody do not include is in the audit, once an hour', async () => {
  const { proxy, post, get } = await startAdmin();
  const { id, token } = (await post('/tokens', { name: 'a', role: 'viewer', instances: ['client-a'] })).json;
  for (let time = 0; time < 3; time++) {
    expect((await post('/keys', { name: 'x' }, { token })).status).toBe(403);
    const { status, json } = await get('/audit/verify', { token });
    expect([status, json.detail]).toEqual([
      403,
      'This reaches the whole proxy; you are limited to the instances client-a. Ask somebody who may use all instances.',
    ]);
  }
  const refused = (await listActions(proxy)).filter(({ action }) => action === 'operation.refused');
  expect(refused.map(({ actor, changes }) => `${actor.id} ${changes.way.to}`)).toEqual([
    `${id} createKey`,
    `${id} verifyAudit`,
  ]);
});

test('only operators see the whole address of a webhook, and nobody finds it by a search', async () => {
  const { post, get, listAdminActions } = await startAdmin({ allow: ['https://hooks.example.com'] });
  const url = 'https://hooks.example.com/T0SECRET?x=1';
  await post('/subscriptions', { name: 'ends', events: ['key.ends'], url });
  const { token } = (await post('/tokens', { name: 'v', role: 'viewer' })).json;
  const list = async (search: string, given = {}) =>
    (await get(`/subscriptions?search=${search}`, given)).json.items.map((item: Json) => item.url);
  expect(await list('T0SEC')).toEqual([url]);
  expect(await list('T0SEC', { token })).toEqual([]);
  expect(await list('hooks', { token })).toEqual(['https://hooks.example.com/…']);
  expect((await get('/subscriptions/ends', { token })).json.url).toBe('https://hooks.example.com/…');
  expect(JSON.stringify(await listAdminActions())).not.toContain('T0SECRET');
});

test('a file is applied by who may change the whole proxy, and that is in the audit', async () => {
  const { post, listAdminActions } = await startAdmin();
  const make = async (more: object) =>
    (await post('/tokens', { name: 'x', role: 'admin', ...more })).json.token;
  const begin = async (token: string) => (await post('/apply', { changes: 2 }, { token })).status;
  expect(await begin(await make({ role: 'operator' }))).toBe(403);
  expect(await begin(await make({ instances: ['client-a'] }))).toBe(403);
  expect(await begin(await make({}))).toBe(204);
  expect((await listAdminActions()).at(-1)).toMatchObject({
    action: 'apply.begin',
    changes: { changes: { from: null, to: 2 } },
  });
});

test('a question about a foreign object asks the store what one about an absent object asks', async () => {
  const worlds = await startTwoProxies();
  const { whole, objects } = worlds;
  const token = await worlds.makeToken('admin');
  await worlds.addInstance('b', 'client-b-prod');
  await worlds.addInstance('a', 'client-a-prod');
  const keyId = await worlds.addKey('b', { ...A, instances: ['client-b-prod'] });
  await worlds.addKey('a', A);
  const record = { instance: 'client-b-prod', model: 'res.partner', fields: ['name'] };
  await worlds.addSubscription('b', 'client-b-prod.s', record);
  await worlds.addApproval('b', 'aprb', keyId);
  const { store } = whole.proxy.app;
  const asked = countQuestions(store);
  const bodies: Record<string, object> = {
    rotateKey: { overlap_seconds: 1 },
    updateKey: { name: 'x' },
    explainCall: { call: {} },
    refuseCall: { reason: 'no' },
    updateInstance: { user_id: 3 },
    updateSubscription: { fields: ['email'] },
    rotateSecret: { overlap_seconds: 1 },
    replayDeliveries: { delivery: 'x' },
  };
  const foreign: Record<string, string | undefined> = {
    keys: objects.b.keys[0],
    approvals: 'aprb',
    instances: 'client-b-prod',
    subscriptions: 'client-b-prod.s',
  };
  const absent: Record<string, string> = { instances: 'client-b-none', subscriptions: 'client-b-prod.x' };
  for (const { id, method, path } of ADMIN_ROUTES) {
    const [, folder = '', variable] = path.split('/');
    if (!variable?.startsWith(':') || foreign[folder] === undefined) continue;
    const ask = async (name: string) => {
      asked.length = 0;
      const body = bodies[id];
      const { status } = await whole.ask(method, path.replace(/:\w+/, name), {
        token,
        ...(body && { body }),
      });
      return { status, asked: [...asked] };
    };
    // The first request of an address is recorded.
    await ask('absent');
    const seen = await ask(foreign[folder]);
    expect({ id, ...seen }).toEqual({ id, ...(await ask(absent[folder] ?? 'absent')) });
    expect(seen.status, id).toBe(404);
  }
});

/** The names of the methods of the store that are called from now on, but those that the background calls. */
function countQuestions(store: Store): string[] {
  const asked: string[] = [];
  for (const part of ['keys', 'instances', 'subscriptions', 'approvals', 'operatorTokens'] as const) {
    const methods = store[part] as unknown as Record<string, (...given: unknown[]) => unknown>;
    for (const [name, run] of Object.entries(methods)) {
      if (typeof run !== 'function' || name === 'touch' || name === 'measure') continue;
      methods[name] = (...given) => {
        asked.push(`${part}.${name}`);
        return run.apply(methods, given);
      };
    }
  }
  return asked;
}
