/** Persons sign in for an application by their login and key of Odoo, for firms without an identity provider. */
import { expect, test } from 'vitest';
import { Application, Browser, postJson } from './application.ts';
import { ADMIN_TOKEN, call, listTools, readClaims, type Stage, startStage } from './stage.ts';

const SETTINGS = { 'signIn.odoo': 'prod', 'signIn.odooPolicy': 'own' };

const start = ({ settings, ...options }: Parameters<typeof startStage>[0] = {}) =>
  startStage({ hasProvider: false, ...options, settings: { ...SETTINGS, ...settings } });

async function ask(stage: Stage) {
  const application = new Application(stage.url);
  await application.register();
  const browser = new Browser();
  browser.stopsAt.push(application.redirectUri);
  const page = await browser.go(application.address({ resource: stage.url }));
  return { application, browser, page };
}

async function allow(stage: Stage) {
  const { application, browser, page } = await ask(stage);
  const { login, apiKey } = stage.sandbox.users.demo;
  const question = await browser.submit(page, { login, api_key: apiKey });
  const end = await browser.submit(question, { answer: 'allow' });
  return { application, question, tokens: (await application.takeCode(end.url)).json };
}

test.each([16, 18, 19] as const)(
  'the person is the user of Odoo, and is connected at once (%i)',
  async (version) => {
    const stage = await start({ version });
    const { demo } = stage.sandbox.users;
    const { question, tokens } = await allow(stage);
    expect(question.text).toContain(`odoo:prod/${demo.userId}`);
    expect(readClaims(tokens.access_token)).toMatchObject({
      provider: 'odoo:prod',
      sub: String(demo.userId),
      scope: 'mcp erp',
    });
    const users = new Set<number>();
    stage.sandbox.beforeCall(({ userId }) => void users.add(userId));
    expect((await call(stage, tokens.access_token)).json.result).toBeDefined();
    expect([...users]).toEqual([demo.userId]);
    expect((await stage.admin('GET', '/connections')).json.items).toMatchObject([
      { person: `odoo:prod/${demo.userId}`, login: demo.login },
    ]);
    expect((await stage.admin('GET', '/applications')).json.items).toMatchObject([
      { person: `odoo:prod/${demo.userId}` },
    ]);
  },
);

test('a key that Odoo does not accept signs nobody in, and is not tried without end', async () => {
  const stage = await start();
  const { browser, page } = await ask(stage);
  const { admin, demo } = stage.sandbox.users;
  const attempts = [
    [{ login: demo.login, api_key: 'f'.repeat(40) }, 'is not accepted'],
    [{ login: admin.login, api_key: demo.apiKey }, 'is not accepted'],
    [{ login: demo.login, api_key: 'geheim' }, 'a password is none'],
    [{ login: demo.login, api_key: demo.apiKey, instance: 'other' }, 'Choose one of the servers'],
  ] as const;
  for (const [fields, text] of attempts) {
    const shown = await browser.submit(page, fields);
    expect(shown.status).toBe(403);
    expect(shown.text).toContain(text);
    expect(shown.text).not.toContain(fields.api_key);
    expect(shown.text).not.toContain('to act as you?');
  }
  await stage.proxy.app.audit.flush();
  const { json } = await stage.admin('GET', '/audit?limit=5');
  expect(json.items[0]).toMatchObject({ action: 'login.refused', changes: { way: { to: 'odoo' } } });
  for (let count = 0; count < 8; count++)
    await browser.submit(page, { login: demo.login, api_key: '0'.repeat(40) });
  const last = await browser.submit(page, { login: demo.login, api_key: demo.apiKey });
  expect(last.text).toContain('Too many keys that Odoo did not accept');
});

test('a denied person, and one whose server was replaced, lose their tokens', async () => {
  const stage = await start();
  const { application, tokens } = await allow(stage);
  const person = `odoo:prod/${stage.sandbox.users.demo.userId}`;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  expect(
    (await postJson(`${stage.url}/admin/v1/denied-subjects`, { id: person }, headers)).status,
  ).toBeLessThan(300);
  await expect.poll(async () => (await listTools(stage, tokens.access_token)).status).toBe(401);
  const allowAgain = `${stage.url}/admin/v1/denied-subjects/${encodeURIComponent(person)}`;
  await fetch(allowAgain, { method: 'DELETE', headers });
  await expect.poll(async () => (await listTools(stage, tokens.access_token)).status).toBe(200);

  const next = (await application.refresh(tokens.refresh_token)).json;
  const moved = await fetch(`${stage.url}/admin/v1/instances/prod`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ db: 'another' }),
  });
  expect(moved.status).toBe(200);
  expect((await application.refresh(next.refresh_token)).json.error).toBe('invalid_grant');
  expect((await listTools(stage, next.access_token)).status).toBe(401);
});

test('a person whose connection an operator has removed signs in again, and is connected again', async () => {
  const stage = await start();
  const { application, tokens } = await allow(stage);
  const person = `odoo:prod/${stage.sandbox.users.demo.userId}`;
  const removed = await stage.admin('DELETE', `/connections/prod/${encodeURIComponent(person)}`);
  expect(removed.status).toBe(204);
  expect((await call(stage, tokens.access_token)).json.error.data.type).toBe('connect_required');
  expect((await application.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
  expect((await listTools(stage, tokens.access_token)).status).toBe(401);
  const again = await allow(stage);
  expect((await call(stage, again.tokens.access_token)).json.result).toBeDefined();
});

test('an instance without the identity person signs nobody in', async () => {
  const stage = await start({ settings: { 'signIn.odoo': 'prod,shared' } });
  const { userId: user_id, apiKey: api_key, login } = stage.sandbox.users.demo;
  const { url, db } = stage.sandbox;
  await stage.proxy.app.instances.add({ name: 'shared', url, db, user_id, api_key, allow_private: true });
  const { browser, page } = await ask(stage);
  expect(page.text).toContain('<option>shared</option>');
  const shown = await browser.submit(page, { instance: 'shared', login, api_key });
  expect(shown.text).toContain('Nobody can sign in by this server');
});
