/** Tests `/me` with a session of the identity provider: without a role, and against pages of other servers. */
import { expect, test } from 'vitest';
import { Browser, describeOperators, startScriptedProvider } from '../operators/scripted-provider.ts';
import { describeIssuer, READER } from '../tokens/issuer.ts';
import { ADMIN_TOKEN, startStage } from './stage.ts';

async function start(rules: unknown[] = [{ policy: READER }]) {
  const provider = await startScriptedProvider();
  const stage = await startStage({
    settings: {
      ...describeOperators(provider),
      'operators.rules': JSON.stringify([{ claim: 'groups', value: 'erp-admins', role: 'admin' }]),
      'auth.issuers': JSON.stringify([describeIssuer(provider, { rules })]),
    },
  });
  const signIn = async (sub: string, claims: Record<string, unknown> = {}) => {
    provider.claims = { sub, groups: ['staff'], ...claims };
    const browser = new Browser(stage.proxy);
    return { browser, at: await browser.signIn('/connect/prod') };
  };
  const connect = (browser: Browser, headers: Record<string, string> = {}) =>
    browser.ask('/me/connections/prod', {
      method: 'POST',
      headers,
      body: JSON.stringify({ login: 'demo', api_key: stage.sandbox.users.demo.apiKey }),
    });
  const list = async (browser: Browser) =>
    JSON.parse((await browser.ask('/me/connections')).body.toString()).connections;
  return { ...stage, provider, signIn, connectBy: connect, list };
}

test('a person without a role comes back to the page, connects, and administers nothing', async () => {
  const { signIn, connectBy, list } = await start();
  const { browser, at } = await signIn('bob');
  expect(new URL(at).pathname).toBe('/connect/prod');
  expect((await connectBy(browser)).status).toBe(200);
  expect(await list(browser)).toMatchObject([{ instance: 'prod', login: 'demo' }]);
  for (const path of ['/session', '/connections', '/keys', '/instances/prod', '/audit', '/status']) {
    expect([path, (await browser.ask(`/admin/v1${path}`)).status]).toEqual([path, 403]);
  }
  const body = JSON.stringify({ name: 'x', for: 'corp/ada' });
  expect((await browser.ask('/admin/v1/keys', { method: 'POST', body })).status).toBe(403);
});

test('a person whom no rule matches does not get in', async () => {
  const { signIn } = await start([{ claim: 'groups', value: 'sales', policy: READER }]);
  const { browser, at } = await signIn('bob');
  expect(at).toContain('problem=no_role');
  expect((await browser.ask('/me/connections')).status).toBe(401);
});

test('a link that was sent to somebody else binds to who signed in', async () => {
  const { signIn, connectBy, list, proxy } = await start();
  const [ada, bob] = [await signIn('ada', { groups: ['erp-admins'] }), await signIn('bob')];
  expect((await connectBy(bob.browser)).status).toBe(200);
  expect(await list(ada.browser)).toEqual([]);
  expect(await proxy.app.connections.get('corp/bob', 'prod')).toMatchObject({ login: 'demo' });
  expect(await proxy.app.connections.get('corp/ada', 'prod')).toBeNull();
});

test('a page of another server changes nothing with the session of a person', async () => {
  const { signIn, connectBy, list } = await start();
  const { browser } = await signIn('bob');
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ];
  for (const headers of foreign) expect((await connectBy(browser, headers)).status).toBe(403);
  expect(await list(browser)).toEqual([]);
  expect((await connectBy(browser)).status).toBe(200);
  for (const headers of foreign) {
    for (const [method, path] of [
      ['DELETE', '/me/connections/prod'],
      ['POST', '/me/connections/prod/test'],
    ] as const)
      expect((await browser.ask(path, { method, headers })).status).toBe(403);
  }
  expect(await list(browser)).toHaveLength(1);
});

test('a session with the admin token is that of no person', async () => {
  const { proxy } = await start();
  const browser = new Browser(proxy);
  const login = JSON.stringify({ token: ADMIN_TOKEN });
  expect((await browser.ask('/admin/v1/session', { method: 'POST', body: login })).status).toBe(200);
  expect((await browser.ask('/me/connections')).status).toBe(403);
});

test('a denied person loses the session', async () => {
  const { signIn, list, admin } = await start();
  const { browser } = await signIn('bob');
  expect(await list(browser)).toEqual([]);
  expect((await admin('POST', '/denied-subjects', { id: 'corp/bob' })).status).toBe(200);
  await expect.poll(async () => (await browser.ask('/me/connections')).status).toBe(401);
});
