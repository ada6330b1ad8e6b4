/** `approvals.fourEyes`: nobody approves a call of a key that they made, or a call of their own. */
import { expect, test } from 'vitest';
import { type Json, SETTINGS, startAdmin } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { Browser, describeOperators, startScriptedProvider } from '../operators/scripted-provider.ts';
import { answerTrue, startUpstream } from '../scripted-upstream.ts';

async function start(settings: Record<string, string> = { 'approvals.fourEyes': 'true' }) {
  const upstream = closeAfterTest(await startUpstream(answerTrue));
  const provider = await startScriptedProvider();
  const admin = await startAdmin({
    allow: [upstream.url],
    settings: { ...SETTINGS, ...describeOperators(provider), ...settings },
  });
  const { proxy, post } = admin;
  await post('/instances', {
    name: 'prod',
    url: upstream.url,
    db: 'prod',
    user_id: 2,
    api_key: 'odoo-secret-1',
  });
  const policy = {
    instances: ['prod'],
    models: { '*': ['read', 'unlink'] },
    approve: { '*': ['unlink'] },
  };
  const call = (id: number) => ({
    ...{ id, action: 'unlink', model_id: 'account.move', params: [[id]], keyword: {} },
    erp_instance: { name: 'prod' },
  });
  /** Asks for an approval with the key, and returns its id. */
  const ask = async (key: string, id: number): Promise<string> =>
    (await proxy.call(call(id), { 'x-proxy-api': key })).json.error.data.approval;
  const makeToken = async (name: string): Promise<string> =>
    (await post('/tokens', { name, role: 'admin' })).json.token;
  const makeKey = async (token?: string): Promise<Json> =>
    (await post('/keys', { name: 'agent', policy }, token ? { token } : {})).json;
  const approve = async (id: string, token?: string) => {
    const { status, json } = await post(`/approvals/${id}/approve`, undefined, token ? { token } : {});
    return status === 200 ? json.state : `${status} ${json.detail}`;
  };
  return { ...admin, provider, call, ask, makeToken, makeKey, approve };
}

test('who made the key refuses its calls, but does not approve them; somebody else does', async () => {
  const { ask, makeToken, makeKey, approve, post } = await start();
  const [ada, ben] = [await makeToken('Ada'), await makeToken('Ben')];
  const { id, key } = await makeKey(ada);
  const approval = await ask(key, 1);
  expect(await approve(approval, ada)).toBe(
    `403 You made the key ${id}, and approvals.fourEyes is true: somebody else must approve it.`,
  );
  expect(await approve(approval, ben)).toBe('approved');
  const other = await ask(key, 2);
  const refused = await post(`/approvals/${other}/refuse`, { reason: 'no' }, { token: ada });
  expect(refused.json.state).toBe('refused');
});

test('after a rotation, who made the new key does not approve its calls', async () => {
  const { ask, makeToken, makeKey, approve, post } = await start();
  const [ada, ben] = [await makeToken('Ada'), await makeToken('Ben')];
  const { id } = await makeKey(ada);
  const fresh = (await post(`/keys/${id}/rotate`, { overlap_seconds: 0 }, { token: ben })).json;
  expect(fresh.created_by.name).toBe('Ben');
  const approval = await ask(fresh.key, 1);
  expect(await approve(approval, ben)).toMatch(/^403 You made the key/);
  expect(await approve(approval, ada)).toBe('approved');
});

test('a person is the same with each token and in the console', async () => {
  const { ask, approve, proxy, provider, makeToken } = await start();
  provider.claims = { groups: ['erp-admins'], sub: 'ada', name: 'Ada' };
  const browser = new Browser(proxy);
  await browser.signIn();
  const post = async (path: string, body?: object): Promise<Json> => {
    const answer = await browser.ask(`/admin/v1${path}`, {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return JSON.parse(answer.body.toString());
  };
  const { token } = await post('/tokens', { name: 'script', role: 'admin' });
  const policy = { instances: ['prod'], models: { '*': ['unlink'] }, approve: { '*': ['unlink'] } };
  const byToken = await (async () => {
    const answer = await send(`${proxy.url}/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'agent', policy }),
    });
    return JSON.parse(answer.body.toString()) as Json;
  })();
  const byBrowser = await post('/keys', { name: 'agent', policy });
  const [one, two] = [await ask(byToken.key, 1), await ask(byBrowser.key, 2)];
  expect((await post(`/approvals/${one}/approve`)).detail).toMatch(/^You made the key/);
  expect(await approve(two, token)).toMatch(/^403 You made the key/);
  expect(await approve(two, await makeToken('somebody else'))).toBe('approved');
});

test('the person for whom a key makes calls does not approve them, whoever made the key', async () => {
  const { ask, approve, proxy, provider, makeToken, post } = await start();
  provider.claims = { groups: ['erp-admins'], sub: 'ada', name: 'Ada' };
  const browser = new Browser(proxy);
  await browser.signIn();
  const policy = { instances: ['prod'], models: { '*': ['unlink'] }, approve: { '*': ['unlink'] } };
  const { json } = await post('/keys', { name: 'agent', policy, for: 'corp/ada' });
  const approval = await ask(json.key, 1);
  const answer = await browser.ask(`/admin/v1/approvals/${approval}/approve`, { method: 'POST' });
  expect([answer.status, JSON.parse(answer.body.toString()).detail]).toEqual([
    403,
    expect.stringMatching(/^The key makes your own calls/),
  ]);
  expect(await approve(approval, await makeToken('Ben'))).toBe('approved');
});

test('a call that somebody made in the console is approved by somebody else', async () => {
  const { makeToken, makeKey, approve, call, get, proxy } = await start();
  const [ada, ben] = [await makeToken('Ada'), await makeToken('Ben')];
  const { id } = await makeKey();
  const answer = await send(`${proxy.url}/admin/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada}`, 'content-type': 'application/json' },
    body: JSON.stringify({ call: call(1), key_id: id }),
  });
  const { approval } = JSON.parse(answer.body.toString()).error.data;
  expect((await get(`/approvals/${approval}`)).json.asked_by.name).toBe('Ada');
  expect(await approve(approval, ada)).toMatch(/^403 You made this call yourself/);
  expect(await approve(approval, ben)).toBe('approved');
});

test('everybody with admin.token is the same, and a key that nobody is known to have made needs a rotation', async () => {
  const { ask, makeKey, approve, proxy, post, makeToken } = await start();
  const { id, key } = await makeKey();
  const approval = await ask(key, 1);
  expect(await approve(approval)).toMatch(/^403 You made the key/);
  const session = new Browser(proxy);
  const login = await session.ask('/admin/v1/session', {
    method: 'POST',
    body: JSON.stringify({ token: SETTINGS['admin.token'] }),
  });
  expect(login.status).toBe(200);
  const answer = await session.ask(`/admin/v1/approvals/${approval}/approve`, { method: 'POST' });
  expect(JSON.parse(answer.body.toString()).detail).toMatch(/^You made the key/);

  const old = await proxy.app.keys.create({
    name: 'old',
    policy: { instances: ['prod'], models: { '*': ['unlink'] }, approve: { '*': ['unlink'] } },
  });
  const ada = await makeToken('Ada');
  expect(await approve(await ask(old.key, 2), ada)).toBe(
    `403 It is not known who made the key ${old.record.id}, and approvals.fourEyes is true: rotate the key, and have the call asked for again with the new one.`,
  );
  expect((await post(`/keys/${id}/revoke`)).status).toBe(200);
});

test('without the setting, everybody with the role approves', async () => {
  const { ask, makeKey, approve } = await start({});
  const { key } = await makeKey();
  expect(await approve(await ask(key, 1))).toBe('approved');
});
