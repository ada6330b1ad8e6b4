import { SESSION_ACTOR, TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { createSessions } from '@erp-proxy/http/testing';
import { describe, expect, test } from 'vitest';
import { type AdminAnswer, type Json, SETTINGS, startAdmin, TOKEN } from './admin-client.ts';

const HOUR_MS = 3_600_000;
/** The header that a browser sends from a page of the proxy itself. */
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

async function login(headers: Record<string, string> = {}) {
  const clock = { now: 1_800_000_000_000 };
  const admin = await startAdmin({ clock: () => clock.now });
  const answer = await admin.post('/session', { token: TOKEN }, { token: null, headers });
  const [setCookie = ''] = answer.headers['set-cookie'] ?? [];
  const cookie = setCookie.split(';')[0] ?? '';
  return { ...admin, answer, setCookie, cookie, clock };
}

test('starts a session with the token, and recognises it by its cookie', async () => {
  const { answer, setCookie, cookie, clock, get } = await login();
  expect(answer.status).toBe(200);
  const expires_at = new Date(clock.now + 8 * HOUR_MS).toISOString();
  const rights = { role: 'admin', instances: null, other_roles: [] };
  expect(answer.json).toEqual({ actor: SESSION_ACTOR, ...rights, expires_at });
  expect(setCookie).toMatch(/^ep_session=[\w.-]+; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/);
  expect((await get('/session', { token: null, headers: { cookie } })).json).toEqual(answer.json);
  expect((await get('/keys', { token: null, headers: { cookie: `a=b; ${cookie}; c=d` } })).status).toBe(200);
  expect((await get('/session')).json).toEqual({ actor: TOKEN_ACTOR, ...rights, expires_at: null });
});

test.each([
  ['erp.example.com', '; Secure'],
  ['192.168.1.7:8787', '; Secure'],
  ['127.0.0.1.example.com', '; Secure'],
  ['localhost:8787', ''],
  ['127.0.0.1:8787', ''],
  ['[::1]:8787', ''],
])('gives %s a cookie that ends with "%s"', async (host, end) => {
  const { setCookie } = await login({ host });
  expect(setCookie.split('SameSite=Strict')[1]).toBe(end);
});

test('gives a page with TLS a `Secure` cookie, whatever host its reverse proxy names', async () => {
  const { setCookie } = await login({ host: '127.0.0.1:8787', origin: 'https://erp.example.com' });
  expect(setCookie).toMatch(/; Secure$/);
});

test('ends a session after eight hours', async () => {
  const { cookie, clock, get } = await login();
  const ask = async () => (await get('/session', { token: null, headers: { cookie } })).status;
  clock.now += 8 * HOUR_MS - 1;
  expect(await ask()).toBe(200);
  clock.now += 1;
  expect(await ask()).toBe(401);
});

test('records actions of a session with the actor `session`', async () => {
  const { cookie, post, listAdminActions } = await login();
  await post('/keys', { name: 'Shop' }, { token: null, headers: { cookie, ...OWN_PAGE } });
  expect(await listAdminActions()).toEqual([
    expect.objectContaining({ actor: SESSION_ACTOR, action: 'key.create' }),
  ]);
});

test.each([
  ['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ['from another host of the site', { 'sec-fetch-site': 'same-site' }, 403],
  ['from the address bar', { 'sec-fetch-site': 'none' }, 403],
  [
    'from another site, whatever its origin',
    { 'sec-fetch-site': 'cross-site', origin: 'http://own.example' },
    403,
  ],
  ['without these headers', {}, 403],
  ['from another origin', { origin: 'https://evil.example' }, 403],
  ['from a page without an origin', { origin: 'null' }, 403],
  ['from another port', { origin: 'http://own.example:81' }, 403],
  ['from its own page', { 'sec-fetch-site': 'same-origin', origin: 'http://own.example' }, 201],
  ['from its own page in an old browser', { origin: 'http://own.example' }, 201],
])('answers a change in a session %s with %d', async (_, headers, status) => {
  const { cookie, ask } = await login();
  // As a browser has it over TLS.
  const own = `__Host-${cookie}`;
  const given = { token: null, headers: { cookie: own, host: 'own.example', ...headers } };
  expect((await ask('POST', '/keys', { body: { name: 'Shop' }, ...given })).status).toBe(status);
  for (const [method, path] of [
    ['PATCH', '/keys/x'],
    ['DELETE', '/instances/x'],
  ] as const) {
    const answer = await ask(method, path, method === 'PATCH' ? { body: {}, ...given } : given);
    expect(answer.status).toBe(status === 403 ? 403 : 404);
  }
  expect((await ask('GET', '/keys', given)).status).toBe(200);
});

test('accepts requests with the token from any page', async () => {
  const { post } = await startAdmin();
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  expect((await post('/keys', { name: 'Shop' }, { headers })).status).toBe(201);
});

test('logs out only from its own page', async () => {
  const { cookie, remove } = await login();
  expect((await remove('/session', { token: null, headers: { cookie } })).status).toBe(403);
  const out = await remove('/session', { token: null, headers: { cookie, ...OWN_PAGE } });
  expect(out.status).toBe(204);
  expect(out.headers['set-cookie']).toEqual(['ep_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict']);
  expect((await remove('/session', { token: null })).status).toBe(204);
});

test('below a path, also ends a session that is older than the path', async () => {
  const settings = { ...SETTINGS, 'http.publicUrl': 'https://example.com/erp' };
  const { post, remove } = await startAdmin({ settings });
  const login = await post('/session', { token: TOKEN }, { token: null });
  const { 'set-cookie': started } = login.headers;
  expect(started).toEqual([expect.stringMatching(/^ep_session=[\w.-]+; Max-Age=28800; HttpOnly/)]);
  const cookie = String(started?.[0]?.split(';')[0]);
  const out = await remove('/session', { token: null, headers: { cookie, ...OWN_PAGE } });
  expect(out.headers['set-cookie']).toEqual([
    'ep_session=; Max-Age=0; HttpOnly; SameSite=Strict',
    'ep_session=; Path=/erp; Max-Age=0; HttpOnly; SameSite=Strict',
    'ep_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
  ]);
});

test('refuses a session that was forged, changed, or signed with another token', async () => {
  const { cookie, clock, get } = await login();
  const [expiresAt, signature] = cookie.slice('ep_session='.length).split('.');
  const other = createSessions({ token: `${TOKEN}x`, clock: () => clock.now }).open().value;
  for (const value of [
    '',
    'x',
    `${expiresAt}.`,
    `${Number(expiresAt) + 1}.${signature}`,
    `0${expiresAt}.${signature}`,
    `${expiresAt}.${signature}A`,
    `${expiresAt}.${'A'.repeat(43)}`,
    other,
  ]) {
    const answer = await get('/keys', { token: null, headers: { cookie: `ep_session=${value}` } });
    expect(answer.status, value).toBe(401);
  }
});

test('refuses a valid session that is sent with a wrong token', async () => {
  const { cookie, get } = await login();
  expect((await get('/keys', { token: 'wrong', headers: { cookie } })).status).toBe(401);
});

test.each([
  ['nothing', null],
  ['a wrong token', 'x'.repeat(40)],
  ['a part of the token', TOKEN.slice(0, -1)],
  ['more than the token', `${TOKEN}x`],
  ['an empty token', ''],
])('answers %s with 401', async (_, token) => {
  const { get } = await startAdmin();
  const answer = await get('/keys', { token });
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="erp-proxy admin"');
});

test('accepts only the scheme `bearer`, in any case', async () => {
  const { get } = await startAdmin();
  const ask = async (authorization: string) =>
    (await get('/keys', { token: null, headers: { authorization } })).status;
  expect(await ask(`bearer ${TOKEN}`)).toBe(200);
  expect(await ask(`Basic ${TOKEN}`)).toBe(401);
  expect(await ask(TOKEN)).toBe(401);
});

test('checks the token before it reads the body', async () => {
  const { post } = await startAdmin();
  expect((await post('/keys', 'no json', { token: null })).status).toBe(401);
});

test.each(['/session', '/keys'])(
  'slows down guesses at %s, then refuses them, but never the right token',
  async (path) => {
    // The clock stands still, so that no failure is forgiven and no delay ends.
    const { ask } = await startAdmin({ nowMs: () => 0 });
    const guess = () =>
      path === '/session'
        ? ask('POST', path, { body: { token: 'wrong' }, token: null })
        : ask('GET', path, { token: 'wrong' });
    const answers: AdminAnswer[] = [];
    for (let guesses = 0; guesses < 300; guesses++) {
      // At the end of the test, delayed answers are broken off.
      void guess().then(
        (answer) => answers.push(answer),
        () => {},
      );
    }
    const right =
      path === '/session' ? ask('POST', path, { body: { token: TOKEN }, token: null }) : ask('GET', path);
    expect((await right).status).toBe(200);
    const findRefused = () => answers.filter(({ status }) => status === 429);
    await expect.poll(findRefused).toHaveLength(300 - 5 - 256);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(findRefused().every(({ headers }) => Number(headers['retry-after']) >= 1)).toBe(true);
  },
);

test('takes the address of the client from a trusted reverse proxy', async () => {
  const { post, listAdminActions } = await startAdmin({
    settings: { ...SETTINGS, 'http.trustProxy': '127.0.0.1' },
  });
  await post('/keys', { name: 'Shop' }, { headers: { 'x-forwarded-for': '203.0.113.7' } });
  expect((await listAdminActions())[0].address).toBe('203.0.113.7');
});

describe('the audit', () => {
  async function listLogins(admin: Awaited<ReturnType<typeof startAdmin>>): Promise<string[]> {
    await admin.proxy.app.audit.flush();
    const { json } = await admin.get('/audit?kind=admin&limit=500', { headers: { 'x-request-id': 'look' } });
    const items: Json[] = json.items.filter(({ request_id }: Json) => request_id !== 'look');
    return items
      .toReversed()
      .map(({ actor, action, address, target }) => `${actor.id} ${action} ${address} ${target}`);
  }

  test('records logins, logouts and refused logins', async () => {
    const admin = await login();
    const { cookie, post, remove, get } = admin;
    await get('/keys', { token: null, headers: { cookie } });
    await post('/session', { token: 'x'.repeat(40) }, { token: null });
    await get('/keys', { token: 'y'.repeat(40) });
    await get('/keys', { token: null, headers: { cookie: 'ep_session=1.forged' } });
    await remove('/session', { token: null, headers: { cookie, ...OWN_PAGE } });
    expect(await listLogins(admin)).toEqual([
      'session login.session 127.0.0.1 admin',
      'nobody login.refused 127.0.0.1 admin',
      'nobody login.refused 127.0.0.1 admin',
      'nobody login.refused 127.0.0.1 admin',
      'session logout.session 127.0.0.1 admin',
    ]);
  });

  test('records the use of the token once an hour per address', async () => {
    const admin = await login();
    for (let count = 0; count < 5; count++) await admin.get('/keys');
    admin.clock.now += HOUR_MS;
    await admin.get('/keys');
    const logins = await listLogins(admin);
    expect(logins.filter((line) => line === 'token login.token 127.0.0.1 admin')).toHaveLength(2);
  });

  test('records at most sixty refused logins a minute', async () => {
    const admin = await login();
    const refuse = () => admin.get('/keys', { token: null, headers: { cookie: 'ep_session=1.forged' } });
    for (let count = 0; count < 70; count++) await refuse();
    const count = async () =>
      (await listLogins(admin)).filter((line) => line.includes('login.refused')).length;
    expect(await count()).toBe(60);
    admin.clock.now += 60_000;
    await refuse();
    expect(await count()).toBe(61);
  });

  test('records a login although the store was away for a moment', async () => {
    const admin = await startAdmin();
    const { append } = admin.proxy.app.store.audit;
    admin.proxy.app.store.audit.append = () => {
      throw new Error('away');
    };
    expect((await admin.post('/session', { token: TOKEN }, { token: null })).status).toBe(200);
    await expect(admin.proxy.app.audit.flush()).rejects.toThrow('away');
    admin.proxy.app.store.audit.append = append;
    expect(await listLogins(admin)).toContain('session login.session 127.0.0.1 admin');
  });
});
