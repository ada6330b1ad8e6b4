/** The whole way of an application to its tokens, and of the tokens to their end. */
import { expect, test } from 'vitest';
import { Application, Browser } from './application.ts';
import { allow, call, connect, findFreePort, listTools, readClaims, signIn, startStage } from './stage.ts';

test('an application gets tokens for the tools of the person who says yes, and nothing else', async () => {
  const stage = await startStage();
  const application = new Application(stage.url);
  expect((await application.register()).json).toMatchObject({
    client_id: expect.any(String),
    redirect_uris: ['https://app.example.com/callback'],
    token_endpoint_auth_method: 'none',
  });
  const browser = new Browser();
  browser.stopsAt.push('https://app.example.com');
  const page = await signIn(stage, browser, application.address());
  expect(page.text).toContain('Allow “Assistant” to act as you?');
  expect(page.text).toContain('Ada Lovelace');
  expect(page.text).toContain('https://app.example.com');
  const end = await browser.submit(page, { answer: 'allow' });
  const { searchParams } = new URL(end.url);
  expect(searchParams.get('state')).toBe(application.state);
  expect(searchParams.get('iss')).toBe(stage.url);

  const { status, json } = await application.takeCode(end.url);
  expect({ status, json }).toMatchObject({
    status: 200,
    json: { token_type: 'Bearer', scope: 'mcp', refresh_token: expect.any(String) },
  });
  expect(readClaims(json.access_token)).toMatchObject({
    iss: stage.url,
    aud: stage.url,
    sub: 'ada',
    provider: 'corp',
    scope: 'mcp',
    client_id: application.clientId,
  });
  expect((await listTools(stage, json.access_token)).json.result.tools.length).toBeGreaterThan(3);
  const refused = await call(stage, json.access_token);
  expect(refused.status).toBe(403);
  expect(refused.headers['www-authenticate']).toContain('error="insufficient_scope", scope="erp"');
});

test('a person who says no gives nothing', async () => {
  const stage = await startStage();
  const application = new Application(stage.url);
  await application.register();
  const browser = new Browser();
  browser.stopsAt.push('https://app.example.com');
  const page = await signIn(stage, browser, application.address());
  const { searchParams } = new URL((await browser.submit(page, { answer: 'refuse' })).url);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    error: 'access_denied',
    state: application.state,
    iss: stage.url,
  });
  expect((await stage.admin('GET', '/applications')).json.items).toEqual([]);
});

test('calls run as the person in Odoo, who must connect first', async () => {
  const stage = await startStage();
  const { tokens } = await allow(stage, { resource: stage.url, scope: 'erp' });
  const refused = await call(stage, tokens.access_token);
  expect(refused.json.error).toMatchObject({
    code: -32019,
    data: { type: 'connect_required', connect_url: `${stage.url}/connect/prod` },
  });
  const { demo } = stage.sandbox.users;
  const users = new Set<number>();
  stage.sandbox.beforeCall(({ userId }) => void users.add(userId));
  await connect(stage, 'corp/ada', demo);
  expect((await call(stage, tokens.access_token)).status).toBe(200);
  expect([...users]).toEqual([demo.userId]);
  expect((await listTools(stage, tokens.access_token)).status).toBe(403);
});

test('consents are listed and withdrawn, and their tokens end', async () => {
  const stage = await startStage();
  const { tokens } = await allow(stage);
  const { json } = await stage.admin('GET', '/applications');
  expect(json.items).toMatchObject([
    { person: 'corp/ada', name: 'Assistant', address: 'https://app.example.com', scopes: ['mcp'] },
  ]);
  expect((await listTools(stage, tokens.access_token)).status).toBe(200);
  expect((await stage.admin('DELETE', `/applications/${json.items[0].id}`)).status).toBe(204);
  expect((await listTools(stage, tokens.access_token)).status).toBe(401);
});

test('works below a path of a reverse proxy, whatever `host` says', async () => {
  const port = await findFreePort();
  const at = `http://127.0.0.1:${port}`;
  const url = 'https://erp.example.com/gateway';
  const stage = await startStage({ settings: { 'http.port': String(port), 'http.publicUrl': url } });
  const route = (address: string) => address.replace(url, at);
  const application = new Application(at);
  await application.register();
  const browser = new Browser();
  browser.route = route;
  browser.stopsAt.push(application.redirectUri);
  const begin = application.address({ resource: `${url}/mcp` }).replace(at, url);
  const page = await signIn({ ...stage, url }, browser, begin);
  expect(page.url).toMatch(/^https:\/\/erp\.example\.com\/gateway\/oauth\/sign-in\//);
  const end = await browser.submit(page, { answer: 'allow' });
  const { json } = await application.takeCode(end.url);
  expect(readClaims(json.access_token)).toMatchObject({ iss: url, aud: url });
  expect((await listTools({ url: at }, json.access_token)).status).toBe(200);
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/gateway',
  ])
    expect(await (await fetch(at + path)).json()).toMatchObject({
      issuer: url,
      token_endpoint: `${url}/oauth/token`,
    });
});
