/** Sign-in links: their codes work once, over all processes that share the store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSignInCodes } from '@erp-proxy/admin/sign-in-codes';
import { SESSION_ACTOR } from '@erp-proxy/control/audit';
import { createTestSchema } from '@erp-proxy/stores/testing';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Json, SETTINGS, startAdmin, TOKEN } from './admin-client.ts';

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

type RunningAdmin = Awaited<ReturnType<typeof startAdmin>>;

const makeCode = ({ token = TOKEN, now = NOW } = {}) =>
  createSignInCodes({ token, clock: () => now }).issue().code;

const signIn = ({ post }: RunningAdmin, code: string) => post('/session', { code }, { token: null });

test('a code starts a session like the token, and works once', async () => {
  const admin = await startAdmin({ clock: () => NOW });
  const code = makeCode();
  const first = await signIn(admin, code);
  expect(first.status).toBe(200);
  expect(first.json).toEqual({
    actor: SESSION_ACTOR,
    role: 'admin',
    instances: null,
    other_roles: [],
    expires_at: new Date(NOW + 8 * 60 * MINUTE_MS).toISOString(),
  });
  const [cookie = ''] = first.headers['set-cookie'] ?? [];
  expect((await admin.get('/keys', { token: null, headers: { cookie } })).status).toBe(200);
  const second = await signIn(admin, code);
  expect(second.status).toBe(401);
  expect(second.headers['set-cookie']).toBeUndefined();
  expect(second.json.detail).toMatch(/works once, and it was used\. Run `erp-proxy console`/);
  expect((await signIn(admin, makeCode())).status).toBe(200);
  expect(JSON.stringify(admin.proxy.log)).not.toContain(code.slice(0, 36));
});

test('a code expires after fifteen minutes', async () => {
  const clock = { now: NOW };
  const admin = await startAdmin({ clock: () => clock.now });
  const codes = [makeCode(), makeCode()] as const;
  clock.now += 15 * MINUTE_MS - 1;
  expect((await signIn(admin, codes[0])).status).toBe(200);
  clock.now += 1;
  const late = await signIn(admin, codes[1]);
  expect(late.status).toBe(401);
  expect(late.json.detail).toMatch(/has expired\. Run `erp-proxy console`/);
});

test('refuses a code that was forged, changed, or signed with another token', async () => {
  let nowMs = 0;
  const admin = await startAdmin({ clock: () => NOW, nowMs: () => nowMs });
  const [expiresAt, nonce, signature] = makeCode().split('.');
  for (const code of [
    '',
    'x',
    `${expiresAt}.${nonce}`,
    `${Number(expiresAt) + 1}.${nonce}.${signature}`,
    `0${expiresAt}.${nonce}.${signature}`,
    `${expiresAt}.${'A'.repeat(22)}.${signature}`,
    `${expiresAt}.${nonce}.${signature}A`,
    `${expiresAt}.${nonce}.${'A'.repeat(43)}`,
    makeCode({ token: `${TOKEN}x` }),
  ]) {
    const answer = await signIn(admin, code);
    expect(answer.status, code).toBe(401);
    // The time passes after which the failure is forgiven, so that the next answer is not delayed.
    nowMs += MINUTE_MS;
    expect(answer.json.detail).toMatch(/not a sign-in link of this proxy\. Run `erp-proxy console`/);
  }
});

test('a session value is no code, and a code is no session value', async () => {
  const admin = await startAdmin({ clock: () => NOW });
  const code = makeCode();
  const asCookie = await admin.get('/keys', { token: null, headers: { cookie: `ep_session=${code}` } });
  expect(asCookie.status).toBe(401);
  const { headers } = await signIn(admin, code);
  const [, value = ''] = /^ep_session=([^;]+)/.exec(headers['set-cookie']?.[0] ?? '') ?? [];
  expect((await signIn(admin, value)).status).toBe(401);
});

test.each([
  ['neither', {}],
  ['both', { token: TOKEN, code: 'x' }],
])('refuses a login with %s of token and code', async (_, body) => {
  const { post } = await startAdmin();
  const { status, json } = await post('/session', body, { token: null });
  expect(status).toBe(400);
  expect(json.faults).toEqual([{ path: 'body', message: 'must have either `token` or `code`' }]);
});

test('slows down guesses of codes, then refuses them, but never a right one', async () => {
  // The clock stands still, so that no failure is forgiven and no delay ends.
  const admin = await startAdmin({ clock: () => NOW, nowMs: () => 0 });
  const statuses: number[] = [];
  for (let guess = 0; guess < 300; guess++) {
    void signIn(admin, makeCode({ token: `${TOKEN}x` })).then(
      ({ status }) => statuses.push(status),
      // At the end of the test, delayed answers are broken off.
      () => {},
    );
  }
  expect((await signIn(admin, makeCode())).status).toBe(200);
  await expect.poll(() => statuses.filter((status) => status === 429)).toHaveLength(300 - 5 - 256);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
});

test('the audit has each way to sign in, and the refused ones', async () => {
  const admin = await startAdmin({ clock: () => NOW });
  const code = makeCode();
  await signIn(admin, code);
  await signIn(admin, code);
  await admin.post('/session', { token: TOKEN }, { token: null });
  await admin.post('/session', { token: 'x'.repeat(40) }, { token: null });
  await admin.proxy.app.audit.flush();
  const { json } = await admin.get('/audit?kind=admin', { headers: { 'x-request-id': 'look' } });
  const logins = json.items.filter(({ request_id }: Json) => request_id !== 'look').toReversed();
  expect(logins.map(({ actor, action, changes }: Json) => `${actor.id} ${action} ${changes.way.to}`)).toEqual(
    [
      'session login.session link',
      'nobody login.refused link',
      'session login.session token',
      'nobody login.refused token',
    ],
  );
  expect(JSON.stringify(json)).not.toContain(code);
});

test('does not accept a code while the store cannot say whether it was used', async () => {
  const admin = await startAdmin({ clock: () => NOW });
  const { leases } = admin.proxy.app.store;
  const { acquire } = leases;
  leases.acquire = () => {
    throw new Error('away');
  };
  const code = makeCode();
  const refused = await signIn(admin, code);
  expect(refused.status).toBe(503);
  expect(refused.json.detail).toContain('Try again when it answers');
  leases.acquire = acquire;
  expect((await signIn(admin, code)).status).toBe(200);
});

describe('two proxies on one store', () => {
  test('SQLite: only one of them accepts a code', async () => {
    await expectOneSignIn(await startTwo(makeStoreFile(), () => NOW));
  });

  test.skipIf(SERVER_URL === '')('PostgreSQL: only one of them accepts a code', async () => {
    const schema = await createTestSchema(SERVER_URL);
    closeAfterTest({ close: () => schema.drop() });
    await expectOneSignIn(await startTwo(schema.url, () => NOW));
  });

  test('one whose clock is behind does not accept a used code either', async () => {
    const clock = { now: NOW };
    const [one, two] = await startTwo(makeStoreFile(), () => clock.now);
    const code = makeCode();
    clock.now = NOW + 15 * MINUTE_MS - 1;
    expect((await signIn(one, code)).status).toBe(200);
    clock.now = NOW;
    expect((await signIn(two, code)).status).toBe(401);
  });

  async function expectOneSignIn([one, two]: [RunningAdmin, RunningAdmin]): Promise<void> {
    const code = makeCode();
    const answers = await Promise.all([one, two, one, two].map((admin) => signIn(admin, code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
  }

  async function startTwo(url: string, clock: () => number): Promise<[RunningAdmin, RunningAdmin]> {
    const settings = { ...SETTINGS, 'store.url': url };
    return [await startAdmin({ clock, settings }), await startAdmin({ clock, settings })];
  }

  /** The folder of the store is removed after the proxies are closed. */
  function makeStoreFile(): string {
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
    closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
    return `sqlite:${join(folder, 'proxy.db')}`;
  }
});
