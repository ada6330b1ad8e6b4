/** Operators sign in by an identity provider: the flow, what is checked, and attacks on it. */
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type ProxyOptions, send, startProxy } from '../harness.ts';
import { makeKey, READER } from '../tokens/issuer.ts';
import {
  Browser,
  CLIENT_SECRET,
  describeOperators,
  PUBLIC_URL,
  SESSION_COOKIE,
  startScriptedProvider,
} from './scripted-provider.ts';

const MINUTE_MS = 60_000;
const FAILED = `${PUBLIC_URL}/sign-in?problem=failed`;
const EXPIRED = `${PUBLIC_URL}/sign-in?problem=expired`;

async function start({ settings = {}, ...options }: ProxyOptions = {}) {
  const provider = await startScriptedProvider();
  const proxy = closeAfterTest(
    await startProxy({ ...options, settings: { ...describeOperators(provider), ...settings } }),
  );
  const browser = new Browser(proxy);
  const listLogins = async () => {
    await proxy.app.audit.flush();
    const { items } = await proxy.app.audit.search({ kind: 'admin', limit: 100 });
    return items
      .flatMap((item) => (item.kind === 'admin' ? [`${item.actor.id} ${item.action}`] : []))
      .toReversed();
  };
  return { provider, proxy, browser, listLogins };
}

test('signs a person in, with the role of the first rule that matches', async () => {
  const { provider, proxy, browser, listLogins } = await start({ clock: () => 1_800_000_000_000 });
  const asked = await browser.start('/calls?instance=prod');
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: 'code',
    client_id: 'erp-proxy',
    redirect_uri: `${PUBLIC_URL}/admin/v1/session/callback`,
    scope: 'openid profile email',
    code_challenge_method: 'S256',
  });
  const answer = await browser.ask(browser.answer(asked));
  expect([answer.status, answer.headers.location]).toEqual([303, `${PUBLIC_URL}/calls?instance=prod`]);
  const [session = '', signIn = ''] = answer.headers['set-cookie'] ?? [];
  expect(session).toMatch(
    /^__Host-ep_session=v1\.[\w.-]+; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict; Secure$/,
  );
  expect(signIn).toBe('ep_sign_in=; Path=/admin/v1/session; Max-Age=0; HttpOnly; SameSite=Lax; Secure');
  expect(await browser.session()).toMatchObject({
    status: 200,
    json: { actor: { type: 'person', id: 'corp/ada', name: 'Ada Lovelace' }, role: 'admin' },
  });
  // The proof of the code goes to the provider, and its secret nowhere else.
  expect(provider.asked[0]?.get('code_verifier')).toMatch(/^[\w-]{43,}$/);
  expect(provider.asked[0]?.get('client_secret')).toBe(CLIENT_SECRET);
  expect(JSON.stringify([answer.headers, proxy.log])).not.toContain(CLIENT_SECRET);
  expect(await listLogins()).toEqual(['corp/ada login.person']);
});

test('names the person in the audit of each act, and in the record of signing out', async () => {
  const { browser, listLogins } = await start();
  await browser.signIn();
  const made = await browser.ask('/admin/v1/keys', { method: 'POST', body: '{"name": "Shop"}' });
  expect(made.status).toBe(201);
  expect((await browser.ask('/admin/v1/session', { method: 'DELETE' })).status).toBe(204);
  // Logins are written in the background.
  expect((await listLogins()).toSorted()).toEqual([
    'corp/ada key.create',
    'corp/ada login.person',
    'corp/ada logout.session',
  ]);
  expect((await browser.session()).status).toBe(401);
});

test('gives a person with a lower role only its rights', async () => {
  const { provider, browser } = await start();
  provider.claims = { groups: ['staff', 'erp-sales'] };
  await browser.signIn();
  expect((await browser.session()).json.role).toBe('viewer');
  expect((await browser.ask('/admin/v1/keys')).status).toBe(200);
  expect((await browser.ask('/admin/v1/keys', { method: 'POST', body: '{"name": "Shop"}' })).status).toBe(
    403,
  );
});

test.each([
  ['has none of the groups', { groups: ['staff'] }],
  ['has no groups', { groups: undefined }],
])('signs in nobody who %s', async (_, claims) => {
  const { provider, browser, listLogins, proxy } = await start();
  provider.claims = claims;
  expect(await browser.signIn()).toBe(`${PUBLIC_URL}/sign-in?problem=no_role`);
  expect((await browser.session()).status).toBe(401);
  expect(await listLogins()).toEqual(['nobody login.refused']);
  expect(proxy.log.find(({ msg }) => msg === 'operator not signed in')).toMatchObject({ id: 'corp/ada' });
});

test('takes claims of the user info that the id token lacks, of the same person only', async () => {
  const { provider, browser } = await start();
  provider.claims = { groups: undefined };
  provider.metadata = { userinfo_endpoint: `${provider.url}/userinfo` };
  for (const [sub, expected] of [
    ['ada', `${PUBLIC_URL}/`],
    ['eve', FAILED],
  ] as const) {
    provider.userInfo = { sub, groups: ['erp-admins'] };
    expect(await browser.signIn()).toBe(expected);
  }
});

test('needs no admin token: without it, only the provider signs in', async () => {
  const { browser } = await start();
  const ways = await browser.ask('/admin/v1/session/ways');
  expect(JSON.parse(ways.body.toString())).toEqual({
    token: false,
    provider: 'corp',
    sign_in_url: `${PUBLIC_URL}/admin/v1/session/start`,
  });
  const login = await browser.ask('/admin/v1/session', { method: 'POST', body: '{"token": ""}' });
  expect(login.status).toBe(401);
});

test('without operators, nobody can sign in by a provider', async () => {
  const proxy = closeAfterTest(await startProxy({ settings: { 'admin.token': 'x'.repeat(32) } }));
  const browser = new Browser(proxy);
  const ways = await browser.ask('/admin/v1/session/ways');
  expect(JSON.parse(ways.body.toString())).toEqual({ token: true, provider: null, sign_in_url: null });
  for (const path of ['start', 'callback?code=1&state=2'])
    expect((await browser.ask(`/admin/v1/session/${path}`)).status).toBe(404);
});

describe('an answer that was not asked for', () => {
  test.each([
    ['another state', { state: 'other' }],
    ['no state', { state: '' }],
  ])('is refused: %s', async (_, changes) => {
    const { browser, provider } = await start();
    const asked = await browser.start();
    expect((await browser.ask(browser.answer(asked, changes))).headers.location).toBe(EXPIRED);
    expect(provider.asked).toEqual([]);
    expect(browser.cookies.size).toBe(0);
  });

  test('is refused in a browser that has begun no sign-in, or another one', async () => {
    const { browser, proxy } = await start();
    const asked = await browser.start();
    const victim = new Browser(proxy);
    expect((await victim.ask(victim.answer(asked))).headers.location).toBe(EXPIRED);
    await victim.start();
    expect((await victim.ask(victim.answer(asked))).headers.location).toBe(EXPIRED);
    expect((await victim.session()).status).toBe(401);
  });

  test('is refused ten minutes after the sign-in began', async () => {
    let late = 0;
    const { browser } = await start({ clock: () => Date.now() + late });
    const asked = await browser.start();
    late = 10 * MINUTE_MS;
    expect((await browser.ask(browser.answer(asked))).headers.location).toBe(EXPIRED);
  });
});

test('an answer is used once, also with the cookie of its sign-in', async () => {
  const { browser, provider } = await start();
  const asked = await browser.start();
  const cookie = browser.cookies.get('ep_sign_in')!;
  await browser.ask(browser.answer(asked));
  expect(provider.asked).toHaveLength(1);
  browser.cookies.clear();
  browser.cookies.set('ep_sign_in', cookie);
  expect((await browser.ask(browser.answer(asked))).headers.location).toBe(EXPIRED);
  expect(provider.asked).toHaveLength(1);
  expect(browser.cookies.has(SESSION_COOKIE)).toBe(false);
});

test.each([
  ['names another issuer', {}, { iss: 'https://evil.example' }],
  [
    'names no issuer, although the provider always does',
    { authorization_response_iss_parameter_supported: true },
    {},
  ],
])('refuses an answer that %s', async (_, metadata, changes) => {
  const { browser, provider } = await start();
  provider.metadata = metadata;
  const asked = await browser.start();
  expect((await browser.ask(browser.answer(asked, changes as Record<string, string>))).headers.location).toBe(
    FAILED,
  );
  // The code must not go to a token endpoint.
  expect(provider.asked).toEqual([]);
});

test('refuses a provider whose configuration names another issuer', async () => {
  const { browser, provider } = await start();
  provider.metadata = { issuer: 'https://evil.example' };
  const { headers } = await browser.ask('/admin/v1/session/start');
  expect(headers.location).toMatch(/problem=(away|failed)$/);
});

test('reaches a provider with a private address only if that is allowed, and no other server with it', async () => {
  const other = await startScriptedProvider();
  const AWAY = `${PUBLIC_URL}/sign-in?problem=away`;
  const { browser: forbidden, provider: unasked } = await start({
    settings: { 'operators.allowPrivate': 'false' },
  });
  expect((await forbidden.ask('/admin/v1/session/start')).headers.location).toBe(AWAY);
  expect(unasked.asked).toEqual([]);
  const { browser, provider } = await start();
  provider.metadata = { token_endpoint: `${other.url}/token` };
  expect(await browser.signIn()).toBe(AWAY);
  expect(other.asked).toEqual([]);
});

const now = () => Math.floor(Date.now() / 1000);

test.each([
  ['of another client', { aud: 'shop' }],
  ['of several clients that names another one as its owner', { aud: ['erp-proxy', 'shop'], azp: 'shop' }],
  ['of another issuer', { iss: 'https://evil.example' }],
  ['of another sign-in', { nonce: 'other' }],
  ['without a nonce', { nonce: undefined }],
  ['that has expired', { iat: now() - 3600, exp: now() - 120 }],
  ['that is not yet valid', { nbf: now() + 86_400 }],
  ['without an expiry', { exp: undefined }],
  ['without a subject', { sub: undefined }],
  ['whose subject could be mistaken in a log', { sub: 'ada\n' }],
])('refuses an id token %s', async (_, claims) => {
  const { provider, browser } = await start();
  provider.claims = claims;
  expect(await browser.signIn()).toBe(FAILED);
  expect((await browser.session()).status).toBe(401);
});

test('accepts an id token whose clock differs by less than a minute', async () => {
  const { provider, browser } = await start();
  for (const [seconds, expected] of [
    [-600 - 10, `${PUBLIC_URL}/`],
    [-600 - 70, FAILED],
  ] as const) {
    provider.now = () => now() + seconds;
    expect(await browser.signIn(), String(seconds)).toBe(expected);
  }
});

test('refuses an id token that another key has signed', async () => {
  const { provider, browser } = await start();
  const { jwk } = makeKey('first');
  provider.key = { ...makeKey('second'), kid: 'first', jwk };
  expect(await browser.signIn()).toBe(FAILED);
});

test('says that the person or the provider did not want to', async () => {
  const { browser, provider } = await start();
  const asked = await browser.start();
  const answer = `/admin/v1/session/callback?${new URLSearchParams({ error: 'access_denied', state: asked.get('state')! })}`;
  expect((await browser.ask(answer)).headers.location).toBe(`${PUBLIC_URL}/sign-in?problem=denied`);
  expect(provider.asked).toEqual([]);
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  '\\/evil.example',
  'javascript:alert(1)',
  '/admin/v1/session/start',
  '/nowhere',
  '/keys/../../evil',
  '@evil.example',
  '.evil.example',
  ':80@evil.example',
  '',
])('never sends a browser to %j after signing in', async (returnTo) => {
  const { browser } = await start();
  expect(await browser.signIn(returnTo)).toBe(`${PUBLIC_URL}/`);
});

test.each(['/keys/abc?tab=policy', '/calls', '/playground'])('comes back to the page %s', async (path) => {
  const { browser } = await start();
  expect(await browser.signIn(path)).toBe(PUBLIC_URL + path);
});

test('an address that is too long for a cookie keeps nobody from signing in', async () => {
  const { browser } = await start();
  const asked = await browser.start(`/calls?model=${'x'.repeat(5000)}`);
  expect(browser.cookies.get('ep_sign_in')!.length).toBeLessThan(3900);
  expect((await browser.ask(browser.answer(asked))).headers.location).toBe(`${PUBLIC_URL}/`);
});

test('a name has no characters that control a terminal or turn the direction of text', async () => {
  const { browser, provider } = await start();
  provider.claims = { name: 'Ada\u001b[31m\u202e\n' };
  await browser.signIn();
  expect((await browser.session()).json.actor.name).toBe('Ada\ufffd[31m\ufffd\ufffd');
});

test('begins a session of its own, whatever session the browser had', async () => {
  const { browser, proxy, provider } = await start();
  const attacker = new Browser(proxy);
  provider.claims = { sub: 'eve', groups: ['erp-sales'] };
  await attacker.signIn();
  const planted = attacker.cookies.get(SESSION_COOKIE)!;
  provider.claims = {};
  browser.cookies.set(SESSION_COOKIE, planted);
  await browser.signIn();
  expect(browser.cookies.get(SESSION_COOKIE)).not.toBe(planted);
  expect((await browser.session()).json.actor.id).toBe('corp/ada');
  expect((await attacker.session()).json).toMatchObject({ actor: { id: 'corp/eve' }, role: 'viewer' });
});

test.each([
  ['cross-site', 'https://evil.example'],
  ['same-site', 'https://other.example.com'],
  ['none', undefined],
])('refuses changes and signing out from other pages (%s)', async (site, origin) => {
  const { browser } = await start();
  await browser.signIn();
  const headers = { 'sec-fetch-site': site, ...(origin === undefined ? {} : { origin }) };
  const made = await browser.ask('/admin/v1/keys', { method: 'POST', body: '{"name": "Shop"}', headers });
  expect(made.status).toBe(403);
  expect((await browser.ask('/admin/v1/session', { method: 'DELETE', headers })).status).toBe(403);
  expect((await browser.session()).status).toBe(200);
});

test('refuses a changed cookie, and the cookie of a sign-in as a session', async () => {
  const { browser } = await start();
  await browser.start();
  browser.cookies.set(SESSION_COOKIE, browser.cookies.get('ep_sign_in')!);
  expect((await browser.session()).status).toBe(401);
  await browser.signIn();
  const value = browser.cookies.get(SESSION_COOKIE)!;
  // In the name of the key, in the nonce, in the text and in its tag.
  for (const place of [4, 15, 60, value.length - 10]) {
    const other = value[place] === 'a' ? 'b' : 'a';
    const changed = value.slice(0, place) + other + value.slice(place + 1);
    browser.cookies.set(SESSION_COOKIE, changed);
    expect((await browser.session()).status).toBe(401);
  }
});

test('a session that another server of the domain plants is none', async () => {
  const { browser, proxy } = await start();
  await browser.signIn();
  const value = browser.cookies.get(SESSION_COOKIE)!;
  const ask = async (cookie: string) =>
    (await send(`${proxy.url}/admin/v1/session`, { headers: { host: new URL(PUBLIC_URL).host, cookie } }))
      .status;
  // Another server can set cookies of the domain, but none with this prefix.
  expect(await ask(`ep_session=${value}`)).toBe(401);
  expect(await ask(`ep_session=other; ${SESSION_COOKIE}=${value}`)).toBe(200);
});

test('slows down failing answers like wrong tokens', async () => {
  // The clock stands still, so that no failure is forgiven and no delay ends.
  const { browser } = await start({ nowMs: () => 0 });
  const statuses: number[] = [];
  for (let count = 0; count < 300; count++) {
    void browser.ask('/admin/v1/session/callback?code=1&state=2').then(
      ({ status }) => statuses.push(status),
      // At the end of the test, delayed answers are broken off.
      () => {},
    );
  }
  await expect.poll(() => statuses.filter((status) => status === 429)).toHaveLength(300 - 5 - 256);
  expect(new Set(statuses)).toEqual(new Set([303, 429]));
});

describe('settings', () => {
  test.each([
    [{ 'operators.clientId': '' }, 'operators.clientId must be a text'],
    [{ 'operators.rules': '[]' }, 'operators.rules: must list at least one rule'],
    [
      { 'operators.rules': '[{"claim": "groups", "value": "x", "role": "boss"}]' },
      'operators.rules[0].role: must be',
    ],
    [{ 'operators.scopes': 'profile' }, 'operators.scopes: must have openid'],
    [{ 'operators.issuer': '' }, 'operators.issuer must be'],
    [{ 'http.publicUrl': '' }, 'http.publicUrl'],
  ])('refuses %j', async (settings, message) => {
    await expect(start({ settings: settings as Record<string, string> })).rejects.toThrow(message);
  });

  test('refuses another name than that of the same provider in auth.issuers', async () => {
    const issuer = 'https://login.example.com';
    const settings = {
      'operators.issuer': issuer,
      'auth.issuers': JSON.stringify([
        { name: 'firm', issuer, audience: [PUBLIC_URL], rules: [{ policy: READER }] },
      ]),
    };
    await expect(start({ settings })).rejects.toThrow(
      'operators.name: is corp, and auth.issuers calls the same provider firm',
    );
  });

  test('of rules that contradict each other, the lowest role decides, which the log says at the start', async () => {
    const group = { claim: 'groups', value: 'erp-admins' };
    const rules = [
      { ...group, role: 'admin' },
      { ...group, role: 'viewer' },
    ];
    const { browser, proxy } = await start({ settings: { 'operators.rules': JSON.stringify(rules) } });
    expect(JSON.stringify(proxy.log)).toContain('the lowest role, viewer, decides');
    await browser.signIn();
    expect((await browser.session()).json).toMatchObject({ role: 'viewer', other_roles: ['admin'] });
  });
});
