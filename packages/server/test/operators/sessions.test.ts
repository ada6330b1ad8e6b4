/** Sessions of operators: the provider is asked again, by one process, and ends what it no longer confirms. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestSchema } from '@erp-proxy/stores/testing';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import {
  Browser,
  describeOperators,
  PUBLIC_URL,
  SESSION_COOKIE,
  startScriptedProvider,
} from './scripted-provider.ts';

const MINUTE_MS = 60_000;
const TOKEN = 'the-admin-token-of-these-tests-0123456789';
const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

async function signIn(settings: Record<string, string> = {}) {
  const provider = await startScriptedProvider();
  const time = { passedMs: 0 };
  const startOne = async (more: Record<string, string> = {}): Promise<RunningProxy> =>
    closeAfterTest(
      await startProxy({
        clock: () => Date.now() + time.passedMs,
        settings: { ...describeOperators(provider), ...settings, ...more },
      }),
    );
  const proxy = await startOne();
  const browser = new Browser(proxy);
  expect(await browser.signIn()).toBe(`${PUBLIC_URL}/`);
  const passMinutes = (minutes: number) => {
    time.passedMs += minutes * MINUTE_MS;
  };
  return { provider, proxy, browser, passMinutes, startOne };
}

test('asks the provider again after an hour, and takes what it says', async () => {
  const { provider, browser, passMinutes } = await signIn();
  const before = browser.cookies.get(SESSION_COOKIE);
  passMinutes(59);
  expect((await browser.session()).json.role).toBe('admin');
  expect(provider.asked).toHaveLength(1);
  provider.claims = { groups: ['erp-sales'], name: 'Ada King' };
  passMinutes(2);
  const { status, json } = await browser.session();
  expect([status, json.role, json.actor.name]).toEqual([200, 'viewer', 'Ada King']);
  expect(Object.fromEntries(provider.asked[1]!)).toMatchObject({
    grant_type: 'refresh_token',
    refresh_token: 'refresh-1',
  });
  expect(browser.cookies.get(SESSION_COOKIE)).not.toBe(before);
  // The next time, with the new refresh token.
  passMinutes(61);
  expect((await browser.session()).status).toBe(200);
  expect(provider.asked[2]?.get('refresh_token')).toBe('refresh-2');
});

test.each([
  ['refuses the refresh token', { isRemoved: true, claims: {} }],
  ['gives no group with a role', { isRemoved: false, claims: { groups: ['staff'] } }],
  ['leaves the claim of the rule out', { isRemoved: false, claims: { groups: undefined } }],
  ['answers for somebody else', { isRemoved: false, claims: { sub: 'eve' } }],
  ['issues an id token for another client', { isRemoved: false, claims: { aud: 'shop' } }],
])('ends a session if the provider %s', async (_, { isRemoved, claims }) => {
  const { provider, browser, passMinutes, proxy } = await signIn();
  if (isRemoved) provider.refreshTokens.clear();
  provider.claims = claims;
  passMinutes(61);
  expect((await browser.session()).status).toBe(401);
  const asked = provider.asked.length;
  // The session stays ended, and nothing more is asked.
  expect((await browser.session()).status).toBe(401);
  expect(provider.asked).toHaveLength(asked);
  expect(JSON.stringify(proxy.log)).not.toMatch(/refresh-1/);
});

test('ends a session eight hours after signing in, whatever the provider says', async () => {
  const { browser, passMinutes } = await signIn({ 'operators.sessionMinutes': '240' });
  passMinutes(241);
  expect((await browser.session()).status).toBe(200);
  passMinutes(238);
  expect((await browser.session()).status).toBe(200);
  passMinutes(2);
  expect((await browser.session()).status).toBe(401);
});

test('ends a session after an hour if the provider issues no refresh token', async () => {
  const { provider, browser, passMinutes } = await signIn();
  provider.issuesRefreshTokens = false;
  await browser.signIn();
  passMinutes(59);
  expect((await browser.session()).status).toBe(200);
  passMinutes(2);
  expect((await browser.session()).status).toBe(401);
});

test('a refresh token that is too long for a cookie is left out, which the log says', async () => {
  const { provider, browser, passMinutes, proxy } = await signIn();
  provider.padding = 'x'.repeat(4000);
  await browser.signIn();
  expect(`${SESSION_COOKIE}=${browser.cookies.get(SESSION_COOKIE)}`.length).toBeLessThan(1000);
  expect(JSON.stringify(proxy.log)).toContain('too long for a cookie');
  passMinutes(59);
  expect((await browser.session()).status).toBe(200);
  passMinutes(2);
  expect((await browser.session()).status).toBe(401);
});

test('while the provider is away, sessions go on for their hour, and none begins', async () => {
  const { provider, proxy, browser, passMinutes } = await signIn();
  provider.isAway = true;
  const other = new Browser(proxy);
  const refused = await other.ask('/admin/v1/session/start');
  // The configuration of the provider is known: the browser finds out itself that the provider does not answer.
  expect(refused.status).toBe(303);
  passMinutes(59);
  expect((await browser.session()).status).toBe(200);
  passMinutes(2);
  const { status, json } = await browser.session();
  expect([status, json.detail]).toEqual([503, expect.stringContaining('The identity provider does not say')]);
  // Nothing has ended: the session goes on when the provider answers again.
  provider.isAway = false;
  expect((await browser.session()).status).toBe(200);
});

test('while the provider is away, an answer that comes in starts no session', async () => {
  const { provider, proxy } = await signIn();
  const other = new Browser(proxy);
  const asked = await other.start();
  provider.isAway = true;
  expect((await other.ask(other.answer(asked))).headers.location).toBe(`${PUBLIC_URL}/sign-in?problem=away`);
  expect((await other.session()).status).toBe(401);
});

test.each([
  ['answers with an error of its own', { status: 500, body: {} }],
  ['does not know the proxy', { status: 401, body: { error: 'invalid_client' } }],
  ['is behind a server that knows no such page', { status: 404, body: {} }],
  ['is behind a server that refuses the request', { status: 403, body: { message: 'blocked' } }],
  ['has moved', { status: 302, body: {} }],
])('keeps a session while the provider %s', async (_, answer) => {
  const { provider, browser, passMinutes } = await signIn();
  provider.answer = () => answer;
  passMinutes(61);
  expect((await browser.session()).status).toBe(503);
  provider.answer = null;
  expect((await browser.session()).status).toBe(200);
});

test('`subjects deny` ends a session at once, and lets nobody in until it is allowed again', async () => {
  const { proxy, browser } = await signIn({ 'admin.token': TOKEN });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const owner = new Browser(proxy);
  const deny = await owner.ask('/admin/v1/denied-subjects', {
    method: 'POST',
    body: '{"id": "corp/ada"}',
    headers,
  });
  expect(deny.status, deny.body.toString()).toBe(200);
  expect((await browser.session()).status).toBe(401);
  expect(await browser.signIn()).toBe(`${PUBLIC_URL}/sign-in?problem=no_role`);
  await owner.ask('/admin/v1/denied-subjects/corp%2Fada', { method: 'DELETE', headers });
  expect(await browser.signIn()).toBe(`${PUBLIC_URL}/`);
});

test('`subjects deny` refuses the tokens that the person has made, also by another token', async () => {
  const { proxy, browser } = await signIn({ 'admin.token': TOKEN });
  const other = new Browser(proxy);
  const post = (path: string, body: object, headers: Record<string, string> = {}, by = other) =>
    by.ask(`/admin/v1${path}`, { method: 'POST', body: JSON.stringify(body), headers });
  const make = async (...given: Parameters<typeof post>) =>
    JSON.parse((await post(...given)).body.toString());
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const first = await make('/tokens', { name: 'script', role: 'admin' }, {}, browser);
  expect(first.created_by).toMatchObject({ type: 'person', id: 'corp/ada' });
  const second = await make('/tokens', { name: 'later', role: 'viewer' }, bearer(first.token));
  expect(second.created_by).toEqual(first.created_by);
  const third = await make('/tokens', { name: 'firm', role: 'viewer' }, bearer(TOKEN));
  const ask = async ({ token }: { token: string }) =>
    (await other.ask('/admin/v1/session', { headers: bearer(token) })).status;
  expect([await ask(first), await ask(second), await ask(third)]).toEqual([200, 200, 200]);
  await post('/denied-subjects', { id: 'corp/ada' }, bearer(TOKEN));
  expect([await ask(first), await ask(second), await ask(third)]).toEqual([401, 401, 200]);
});

test('signing out takes the refresh token back', async () => {
  const { provider, browser } = await signIn();
  await browser.ask('/admin/v1/session', { method: 'DELETE' });
  await expect.poll(() => provider.revoked).toEqual(['refresh-1']);
});

test.each([['before the session was renewed'], ['after it was renewed']])(
  'a copy of the cookie %s is not renewed after signing out, also if the provider takes no refresh token back',
  async (moment) => {
    const { provider, proxy, browser, passMinutes } = await signIn();
    const thief = new Browser(proxy);
    const copy = () => thief.cookies.set(SESSION_COOKIE, browser.cookies.get(SESSION_COOKIE)!);
    copy();
    passMinutes(61);
    expect((await browser.session()).status).toBe(200);
    if (moment === 'after it was renewed') copy();
    // As providers do that accept a refresh token more than once.
    provider.refreshTokens = new Set(['refresh-1', 'refresh-2']);
    expect((await browser.ask('/admin/v1/session', { method: 'DELETE' })).status).toBe(204);
    passMinutes(61);
    expect((await thief.session()).status).toBe(401);
    expect(provider.asked).toHaveLength(2);
  },
);

test('the store has no cookie of a session', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  const { browser, passMinutes } = await signIn({ 'store.url': `sqlite:${join(folder, 'proxy.db')}` });
  passMinutes(61);
  expect((await browser.session()).status).toBe(200);
  const stored = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  expect(stored.join('')).toContain('operator session');
  expect(stored.join('')).not.toContain(browser.cookies.get(SESSION_COOKIE)!);
});

test('requests of one page ask the provider once', async () => {
  const { provider, browser, passMinutes } = await signIn();
  passMinutes(61);
  const answers = await Promise.all(Array.from({ length: 8 }, () => browser.session()));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect(provider.asked).toHaveLength(2);
});

test('a request that was sent with the earlier cookie gets the new one', async () => {
  const { provider, browser, passMinutes } = await signIn();
  const before = browser.cookies.get(SESSION_COOKIE)!;
  passMinutes(61);
  await browser.session();
  const renewed = browser.cookies.get(SESSION_COOKIE);
  browser.cookies.set(SESSION_COOKIE, before);
  expect((await browser.session()).status).toBe(200);
  expect(browser.cookies.get(SESSION_COOKIE)).toBe(renewed);
  expect(provider.asked).toHaveLength(2);
});

describe('two proxies on one store', () => {
  test('SQLite: one of them asks the provider', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
    closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
    await expectOneQuestion(`sqlite:${join(folder, 'proxy.db')}`);
  });

  test.skipIf(SERVER_URL === '')('PostgreSQL: one of them asks the provider', async () => {
    const schema = await createTestSchema(SERVER_URL);
    closeAfterTest({ close: () => schema.drop() });
    await expectOneQuestion(schema.url);
  });

  async function expectOneQuestion(url: string): Promise<void> {
    const { provider, proxy, browser, passMinutes, startOne } = await signIn({ 'store.url': url });
    const other = await startOne();
    expect((await browser.session(other)).status).toBe(200);
    passMinutes(61);
    const proxies = [proxy, other, proxy, other];
    const answers = await Promise.all(proxies.map((it) => browser.session(it)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(provider.asked).toHaveLength(2);
    // An answer of the provider is used once by both, too.
    const asked = await browser.start();
    const cookies = new Map(browser.cookies);
    const used = proxies.map(async (it) => {
      const browserOfOne = new Browser(it);
      for (const [name, value] of cookies) browserOfOne.cookies.set(name, value);
      return (await browserOfOne.ask(browserOfOne.answer(asked))).headers.location;
    });
    const expired = `${PUBLIC_URL}/sign-in?problem=expired`;
    expect((await Promise.all(used)).toSorted()).toEqual(
      [`${PUBLIC_URL}/`, expired, expired, expired].toSorted(),
    );
  }

  test('a session needs more than what the store has: the secret of the client', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
    closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
    const { browser, startOne } = await signIn({ 'store.url': `sqlite:${join(folder, 'proxy.db')}` });
    expect((await browser.session(await startOne())).status).toBe(200);
    const stranger = await startOne({ 'operators.clientSecret': 'another secret' });
    expect((await browser.session(stranger)).status).toBe(401);
  });

  test('a proxy whose rules have changed accepts no earlier session', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
    closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
    const { browser, startOne } = await signIn({ 'store.url': `sqlite:${join(folder, 'proxy.db')}` });
    const changed = await startOne({
      'operators.rules': '[{"claim": "groups", "value": "x", "role": "viewer"}]',
    });
    expect((await browser.session(changed)).status).toBe(401);
  });
});
