/** What ends with a person: sessions that the provider ends, and personal tokens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { makeKey, signToken } from '../tokens/issuer.ts';
import { Browser, CLIENT_ID, describeOperators, startScriptedProvider } from './scripted-provider.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

type Members = Record<string, unknown>;

async function start() {
  const provider = await startScriptedProvider();
  let passedMs = 0;
  const clock = () => Date.now() + passedMs;
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  const store = { 'store.url': `sqlite:${join(folder, 'proxy.db')}` };
  const startOne = async (more: Record<string, string> = {}) =>
    closeAfterTest(
      await startProxy({ clock, settings: { ...describeOperators(provider), ...store, ...more } }),
    );
  const proxy = await startOne();
  provider.now = () => Math.floor(clock() / 1000);
  const passMinutes = (minutes: number) => {
    passedMs += minutes * MINUTE_MS;
  };
  let count = 0;
  const describeLogout = (changes: Members = {}): Members => {
    count += 1;
    return {
      iss: provider.url,
      aud: CLIENT_ID,
      sub: 'ada',
      iat: provider.now(),
      exp: provider.now() + 290,
      jti: `logout-${count}`,
      events: { [LOGOUT_EVENT]: {} },
      ...changes,
    };
  };
  const sendLogout = (token: string) =>
    send(`${proxy.url}/admin/v1/session/backchannel`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
  const logOut = (changes?: Members) =>
    sendLogout(signToken(provider.key, describeLogout(changes), { typ: 'logout+jwt' }));
  const signIn = async (claims: Members = {}) => {
    provider.claims = claims;
    const browser = new Browser(proxy);
    await browser.signIn();
    expect((await browser.session()).status).toBe(200);
    return browser;
  };
  return { provider, proxy, startOne, passMinutes, describeLogout, sendLogout, logOut, signIn };
}

const statusesOf = (browsers: readonly Browser[]) =>
  Promise.all(browsers.map(async (browser) => (await browser.session()).status));

describe('a logout token of the provider', () => {
  test('ends the session that it names', async () => {
    const { signIn, logOut } = await start();
    const browsers = [await signIn({ sid: 'one' }), await signIn({ sid: 'two' })];
    expect((await logOut({ sid: 'one' })).status).toBe(204);
    expect(await statusesOf(browsers)).toEqual([401, 200]);
  });

  test('without a session ends all sessions of its person, and not those of others', async () => {
    const { signIn, logOut, passMinutes } = await start();
    const browsers = [await signIn({ sid: 'one' }), await signIn(), await signIn({ sub: 'eve' })];
    passMinutes(1);
    expect((await logOut()).status).toBe(204);
    expect(await statusesOf(browsers)).toEqual([401, 401, 200]);
  });

  test('does not end a session that begins later, also if the token is sent again', async () => {
    const { provider, signIn, describeLogout, sendLogout, passMinutes } = await start();
    await signIn();
    const token = signToken(provider.key, describeLogout(), { typ: 'logout+jwt' });
    passMinutes(1);
    expect((await sendLogout(token)).status).toBe(204);
    passMinutes(1);
    const browser = await signIn();
    passMinutes(1);
    expect((await sendLogout(token)).status).toBe(204);
    expect((await browser.session()).status).toBe(200);
  });

  test.each<[string, Members]>([
    ['an id token', { nonce: 'n', events: undefined }],
    ['with a nonce', { nonce: 'n' }],
    ['without the event', { events: { other: {} } }],
    ['with no object as events', { events: LOGOUT_EVENT }],
    ['for another client', { aud: 'shop' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['without an id', { jti: undefined }],
    ['of nobody', { sub: undefined }],
    ['of somebody who can never sign in', { sub: 'ada\0' }],
    ['of a subject of two lines', { sub: 'ada\nbob' }],
    ['without a time', { iat: undefined }],
    ['that is old', { iat: 1000, exp: 2000 }],
  ])('is refused: %s', async (_, changes) => {
    const { signIn, logOut } = await start();
    const browser = await signIn({ sid: 'one' });
    expect((await logOut(changes)).status).toBe(400);
    expect((await browser.session()).status).toBe(200);
  });

  test('is refused if another key has signed it, or none', async () => {
    const { signIn, describeLogout, sendLogout } = await start();
    const browser = await signIn();
    const other = { ...makeKey('other'), kid: 'first' };
    const none = [{ alg: 'none' }, describeLogout()].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    for (const token of [signToken(other, describeLogout()), `${none.join('.')}.`, 'x', '']) {
      expect((await sendLogout(token)).status).toBe(400);
    }
    expect((await browser.session()).status).toBe(200);
  });

  test('gets 503 if the provider cannot be asked for its keys, so that it is sent again', async () => {
    const { provider, proxy, signIn, describeLogout } = await start();
    await signIn();
    const token = signToken(provider.key, describeLogout());
    provider.isAway = true;
    const answer = await send(`${proxy.url}/admin/v1/session/backchannel`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `logout_token=${token}`,
    });
    expect(answer.status).toBe(503);
  });
});

test('a copy of the cookie ends when its person signs out', async () => {
  const { proxy, signIn } = await start();
  const browser = await signIn();
  const copy = new Browser(proxy);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  expect((await browser.ask('/admin/v1/session', { method: 'DELETE' })).status).toBe(204);
  expect((await copy.session()).status).toBe(401);
});

describe('a personal token', () => {
  async function makeToken(role = 'admin') {
    const started = await start();
    const browser = await started.signIn();
    const made = await browser.ask('/admin/v1/tokens', {
      method: 'POST',
      body: JSON.stringify({ name: 'nightly', role }),
    });
    expect(made.status).toBe(201);
    const { token } = JSON.parse(made.body.toString());
    const ask = async (by = started.proxy) => {
      const answer = await send(`${by.url}/admin/v1/session`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return { status: answer.status, json: JSON.parse(answer.body.toString()) };
    };
    return { ...started, browser, ask };
  }

  test('has never more than the present role of its person', async () => {
    const { provider, browser, ask, passMinutes } = await makeToken();
    expect((await ask()).json.role).toBe('admin');
    provider.claims = { groups: ['erp-sales'] };
    passMinutes(61);
    await browser.session();
    expect((await ask()).json.role).toBe('viewer');
    provider.claims = {};
    passMinutes(61);
    await browser.session();
    expect((await ask()).json.role).toBe('admin');
  });

  test('keeps a role below that of its person', async () => {
    const { ask } = await makeToken('viewer');
    expect((await ask()).json.role).toBe('viewer');
  });

  test('ends when no rule matches its person any more, and works again when one does', async () => {
    const { provider, browser, ask, signIn, passMinutes } = await makeToken();
    provider.claims = { groups: [] };
    passMinutes(61);
    expect((await browser.session()).status).toBe(401);
    const refused = await ask();
    expect([refused.status, refused.json.detail]).toEqual([
      401,
      'The person who created this personal token has no role any more.',
    ]);
    await signIn();
    expect((await ask()).status).toBe(200);
  });

  test('ends when the provider has not confirmed its person for operators.tokenDays', async () => {
    const { ask, signIn, passMinutes } = await makeToken();
    passMinutes(30 * DAY_MINUTES - 1);
    expect((await ask()).status).toBe(200);
    passMinutes(2);
    const refused = await ask();
    expect([refused.status, refused.json.detail]).toEqual([
      401,
      expect.stringContaining('must sign in again'),
    ]);
    await signIn();
    expect((await ask()).status).toBe(200);
  });

  test('has the role that the present rules give for the claims of its person', async () => {
    const { startOne, ask, signIn } = await makeToken();
    const askUnder = async (rules: Members[], more: Record<string, string> = {}) => {
      const { status, json } = await ask(
        await startOne({ 'operators.rules': JSON.stringify(rules), ...more }),
      );
      return status === 200 ? [json.role, json.instances] : json.detail;
    };
    const group = { claim: 'groups', value: 'erp-admins' };
    expect(await askUnder([{ ...group, role: 'viewer', instances: ['client-a'] }])).toEqual([
      'viewer',
      ['client-a'],
    ]);
    expect(await askUnder([{ claim: 'groups', value: 'other', role: 'admin' }])).toContain(
      'no role any more',
    );
    // What the provider was not asked for is not known, and so denied.
    const byClaim = [
      { claim: 'department', value: 'it', role: 'admin' },
      { ...group, role: 'viewer' },
    ];
    expect(await askUnder(byClaim)).toContain('must sign in again');
    const changed = await startOne({ 'operators.rules': JSON.stringify(byClaim) });
    const browser = await signIn();
    expect((await browser.session()).status).toBe(200);
    await new Browser(changed).signIn();
    expect((await ask(changed)).json.role).toBe('viewer');
    // The claims of another client are not those of this one.
    expect(await askUnder(byClaim, { 'operators.clientId': 'other' })).toContain('must sign in again');
  });
});
