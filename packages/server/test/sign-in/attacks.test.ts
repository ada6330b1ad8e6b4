/** What must not give a token: forged answers, foreign addresses, foreign tokens. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { makeKey, signToken } from '../tokens/issuer.ts';
import { Application, Browser, postJson } from './application.ts';
import {
  allow,
  answerOfProvider,
  call,
  listTools,
  openSigningKey,
  readClaims,
  readKeys,
  type Stage,
  signIn,
  startStage,
} from './stage.ts';

async function ask(stage: Stage) {
  const application = new Application(stage.url);
  await application.register();
  const browser = new Browser();
  browser.stopsAt.push(application.redirectUri);
  return { application, browser, page: await signIn(stage, browser, application.address()) };
}

const listConsents = async (stage: Stage) => (await stage.admin('GET', '/applications')).json.items;

describe('codes', () => {
  test('a code works once, and a second use ends the tokens of the first', async () => {
    const stage = await startStage();
    const { application, end, tokens } = await allow(stage);
    expect((await listTools(stage, tokens.access_token)).status).toBe(200);
    expect((await application.takeCode(end.url)).json.error).toBe('invalid_grant');
    expect((await listTools(stage, tokens.access_token)).status).toBe(401);
    expect((await application.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    expect(await listConsents(stage)).toEqual([]);
  });

  test('a code needs its proof, its address and its application', async () => {
    const stage = await startStage();
    const thief = new Application(stage.url);
    await thief.register();
    for (const changes of [
      { code_verifier: 'x'.repeat(43) },
      { redirect_uri: 'https://app.example.com/other' },
      { client_id: thief.clientId },
    ]) {
      const { application, browser, page } = await ask(stage);
      const { url } = await browser.submit(page, { answer: 'allow' });
      expect((await application.takeCode(url, changes)).json.error).toMatch(/^invalid_(grant|client)$/);
    }
  });

  test.each([
    { code_challenge: null, code_challenge_method: null },
    { code_challenge_method: 'plain' },
    { code_challenge_method: null },
  ])('a request needs PKCE with S256: %j', async (changes) => {
    const stage = await startStage();
    const application = new Application(stage.url);
    await application.register();
    const browser = new Browser();
    browser.stopsAt.push(application.redirectUri);
    const { searchParams } = new URL((await browser.go(application.address(changes))).url);
    expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'invalid_request', iss: stage.url });
  });

  test('a code expires', async () => {
    const time = { passedMs: 0 };
    const stage = await startStage({ clock: () => Date.now() + time.passedMs });
    const { application, browser, page } = await ask(stage);
    const { url } = await browser.submit(page, { answer: 'allow' });
    time.passedMs = 61_000;
    expect((await application.takeCode(url)).json.error).toBe('invalid_grant');
  });
});

describe('the answer of the person', () => {
  test('counts with the proof of the page, once, in this browser, from this page', async () => {
    const stage = await startStage();
    const { application, browser, page } = await ask(stage);
    const other = new Browser();
    other.stopsAt.push(application.redirectUri);
    const attempts = [
      () => browser.submit(page, { answer: 'allow', proof: 'guessed' }),
      () =>
        browser.submit({ ...page, text: page.text.replace(/name="proof"/, 'name="x"') }, { answer: 'allow' }),
      () => browser.submit(page, { answer: 'allow' }, { 'sec-fetch-site': 'cross-site' }),
      () =>
        browser.submit(
          page,
          { answer: 'allow' },
          { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
        ),
      () => other.submit(page, { answer: 'allow' }),
    ];
    for (const attempt of attempts) expect([400, 403]).toContain((await attempt()).status);
    expect(await listConsents(stage)).toEqual([]);
    const answers = await Promise.all([1, 2, 3].map(() => browser.submit(page, { answer: 'allow' })));
    expect(answers.filter(({ url }) => url.includes('code='))).toHaveLength(1);
    expect(await listConsents(stage)).toHaveLength(1);
  });

  test('is asked each time, also for an application that was allowed before', async () => {
    const stage = await startStage();
    const { application, browser } = await allow(stage);
    expect((await signIn(stage, browser, application.address())).text).toContain('to act as you?');
    const silent = await browser.go(application.address({ prompt: 'none' }));
    expect(new URL(silent.url).searchParams.get('error')).toBe('login_required');
  });

  test('does not exist before somebody has signed in', async () => {
    const stage = await startStage({ settings: { 'signIn.odoo': 'prod', 'signIn.odooPolicy': 'own' } });
    const application = new Application(stage.url);
    await application.register();
    const browser = new Browser();
    const page = await browser.go(application.address());
    expect(page.text).toContain('Sign in with corp');
    expect((await browser.submit(page, { answer: 'allow', proof: '' })).status).toBe(400);
  });

  test('a page cannot be shown in a frame, and has no scripts', async () => {
    const stage = await startStage();
    const { browser, page } = await ask(stage);
    const { headers } = await browser.ask(page.url);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' https://app.example.com;");
    expect(headers['cache-control']).toBe('no-store');
  });

  test('what an application says of itself is text', async () => {
    const stage = await startStage();
    const application = new Application(stage.url);
    await application.register({ client_name: '<script>alert(1)</script>\u202eevil' });
    const page = await signIn(stage, new Browser(), application.address());
    expect(page.text).toContain('&#60;script&#62;');
    expect(page.text).not.toContain('<script>');
    expect(page.text).not.toContain('\u202e');
  });
});

describe('a sign-in', () => {
  test('belongs to the browser in which it has begun', async () => {
    const stage = await startStage();
    const { browser, page } = await ask(stage);
    const victim = new Browser();
    // A link to the page of an attacker, before or after the attacker has signed in.
    for (const path of ['', '/start', '?problem=away']) {
      const shown = await victim.go(page.url + path);
      expect(shown.status).toBe(400);
      expect(shown.text).not.toContain('Ada');
    }
    expect((await browser.go(page.url)).text).toContain('Ada');
  });

  test('that was planted in the browser of another person does not answer for this person', async () => {
    const stage = await startStage({ settings: { 'signIn.odoo': 'prod', 'signIn.odooPolicy': 'own' } });
    const application = new Application(stage.url);
    await application.register();
    const attacker = new Browser();
    attacker.stopsAt.push(stage.provider.url);
    const page = await attacker.go(application.address());
    const { url } = await attacker.go(`${page.url}/start`);
    // A page of the same site, or a network without TLS, can write cookies, but not read them.
    const victim = new Browser();
    victim.cookies = [...attacker.cookies];
    const seen = await victim.go(answerOfProvider(stage.url, new URL(url).searchParams));
    expect(seen.text).toContain('signed in as <strong>Ada Lovelace');
    expect((await attacker.go(page.url)).text).not.toContain('Ada');
    expect((await attacker.submit(seen, { answer: 'allow' })).status).toBe(400);
    const { login, apiKey: api_key } = stage.sandbox.users.demo;
    const byOdoo = await victim.submit(page, { login, api_key });
    expect(byOdoo.text).toContain('odoo:prod/');
    expect((await attacker.go(page.url)).text).not.toContain('odoo:prod/');
    expect((await attacker.submit(byOdoo, { answer: 'allow' })).status).toBe(400);
    expect(await listConsents(stage)).toEqual([]);
  });

  test('takes the answer of the provider once, and in its own browser', async () => {
    const stage = await startStage();
    const application = new Application(stage.url);
    await application.register();
    const browser = new Browser();
    browser.stopsAt.push(stage.provider.url);
    const { url } = await browser.go(application.address());
    const back = answerOfProvider(stage.url, new URL(url).searchParams);
    const victim = new Browser();
    expect((await victim.go(back)).url).toContain('problem=expired');
    expect((await browser.go(back)).text).toContain('to act as you?');
    expect((await browser.go(back)).url).toContain('problem=expired');
  });

  test('of a person whom no rule gives a policy ends at a page that says so', async () => {
    const stage = await startStage({ rules: [{ claim: 'groups', value: 'erp', policy: 'own' }] });
    const { page } = await ask(stage);
    expect(page.status).toBe(403);
    expect(page.text).toContain('Your account may not use this proxy');
    stage.provider.claims = { groups: ['erp'] };
    expect((await ask(stage)).page.text).toContain('to act as you?');
  });

  test('starts no session for the console', async () => {
    const stage = await startStage();
    const { browser } = await ask(stage);
    expect(browser.cookies.map(({ name }) => name)).not.toContain('ep_session');
    expect((await browser.ask(`${stage.url}/me/applications`)).status).toBe(401);
  });
});

describe('requests without end', () => {
  test('sign-ins that an address begins are bounded, whatever the path looks like', async () => {
    const stage = await startStage();
    const application = new Application(stage.url);
    await application.register();
    const begin = (path: string) => send(application.address().replace('/oauth/authorize', path));
    for (let count = 0; count < 60; count++) {
      expect((await begin('/oauth/authorize')).status).toBe(303);
      expect((await begin('/oauth/authorize/')).status).toBe(303);
    }
    for (const path of ['/oauth/authorize', '/oauth/authorize/'])
      expect((await begin(path)).status).toBe(429);
  });

  test('an address of IPv6 does not count as many', async () => {
    const stage = await startStage({ settings: { 'http.trustProxy': '127.0.0.1' } });
    const register = (host: string) =>
      postJson(
        `${stage.url}/oauth/register`,
        { redirect_uris: ['https://app.example.com/callback'] },
        { 'x-forwarded-for': host },
      );
    for (let count = 0; count < 60; count++)
      expect((await register(`2001:db8::${count.toString(16)}`)).status).toBe(201);
    expect((await register('2001:db8::ffff')).status).toBe(429);
    expect((await register('2001:db8:0:1::1')).status).toBe(201);
  });

  test('a store that fails is answered, and does not keep applications waiting', async () => {
    const time = { passedMs: 0 };
    const stage = await startStage({ clock: () => Date.now() + time.passedMs });
    const { application, tokens } = await allow(stage);
    time.passedMs = 61_000;
    Object.assign(stage.proxy.app.store.signInObjects, {
      list: async () => {
        throw new Error('the store fails');
      },
    });
    const { status, json } = await application.refresh(tokens.refresh_token);
    expect({ status, error: json.error }).toEqual({ status: 500, error: 'server_error' });
    expect((await send(application.address())).status).toBe(500);
  });

  test.each(['constructor', '__proto__', '<b>', ''])('a page shows no problem named %j', async (problem) => {
    const stage = await startStage({ settings: { 'signIn.odoo': 'prod', 'signIn.odooPolicy': 'own' } });
    const application = new Application(stage.url);
    await application.register();
    const browser = new Browser();
    const page = await browser.go(application.address());
    const shown = await browser.go(`${page.url}?problem=${encodeURIComponent(problem)}`);
    expect(shown.text).toContain('The answer of the provider is not valid. Try again.');
  });
});

describe('what was allowed before', () => {
  test('is withdrawn on the page by its person, with the proof of the page alone', async () => {
    const stage = await startStage();
    const first = await allow(stage);
    stage.provider.claims = { sub: 'bob' };
    const foreign = await allow(stage);
    const [bobs] = (await stage.admin('GET', '/applications?person=corp%2Fbob')).json.items;
    stage.provider.claims = {};
    const { browser, page } = await ask(stage);
    const [, id = ''] = /name="withdraw" value="([^"]+)"/.exec(page.text) ?? [];
    expect(page.text).not.toContain(bobs.id);
    expect((await browser.submit(page, { withdraw: id, proof: 'guessed' })).status).toBe(403);
    await browser.submit(page, { withdraw: bobs.id });
    expect((await listTools(stage, foreign.tokens.access_token)).status).toBe(200);
    expect((await listTools(stage, first.tokens.access_token)).status).toBe(200);
    const again = await browser.submit(page, { withdraw: id });
    expect(again.text).toContain('to act as you?');
    expect(again.text).not.toContain('You have allowed before');
    expect((await listTools(stage, first.tokens.access_token)).status).toBe(401);
    expect((await browser.submit(again, { answer: 'allow' })).url).toContain('code=');
  });
});

describe('addresses', () => {
  test.each([
    'https://evil.example/callback',
    'https://app.example.com/callback/../evil',
    'https://app.example.com/callback?next=evil',
    'https://app.example.com@evil.example/callback',
    'http://app.example.com/callback',
  ])('a browser is not sent to %s, which is not registered', async (redirect_uri) => {
    const stage = await startStage();
    const application = new Application(stage.url);
    await application.register();
    const { status, url, text } = await new Browser().go(application.address({ redirect_uri }));
    expect({ status, url: url.startsWith(stage.url) }).toEqual({ status: 400, url: true });
    expect(text).toContain('address that it has not registered');
  });

  test('an application does not use the address of another one', async () => {
    const stage = await startStage();
    const [one, two] = [
      new Application(stage.url),
      new Application(stage.url, 'https://other.example.com/callback'),
    ];
    await Promise.all([one.register(), two.register()]);
    const { status } = await new Browser().go(one.address({ redirect_uri: two.redirectUri }));
    expect(status).toBe(400);
  });

  test('a program on the machine of the browser may use any port', async () => {
    const stage = await startStage();
    const application = new Application(stage.url, 'http://127.0.0.1:1234/callback');
    await application.register();
    for (const [redirect_uri, isAllowed] of [
      ['http://127.0.0.1:9999/callback', true],
      ['http://127.0.0.1:9999/other', false],
      ['http://localhost:1234/callback', false],
    ] as const) {
      const page = await signIn(stage, new Browser(), application.address({ redirect_uri })).catch(
        () => null,
      );
      expect(page?.text.includes('a program on this computer') ?? false).toBe(isAllowed);
    }
  });

  test.each(['https://other.example.com/mcp', 'https://erp.example.com.evil.example', 'urn:x:y'])(
    'no token is issued for the resource %s',
    async (resource) => {
      const stage = await startStage();
      const application = new Application(stage.url);
      await application.register();
      const browser = new Browser();
      browser.stopsAt.push(application.redirectUri);
      const { searchParams } = new URL((await browser.go(application.address({ resource }))).url);
      expect(searchParams.get('error')).toBe('invalid_target');
      const allowed = await allow(stage);
      const { json } = await allowed.application.refresh(allowed.tokens.refresh_token, { resource });
      expect(json.error).toBe('invalid_target');
    },
  );
});

test.each([
  ['', 'mcp erp'],
  ['/', 'mcp erp'],
  ['/mcp', 'mcp'],
  ['/mcp/', 'mcp'],
  ['/api/erp/execute', 'erp'],
  ['/v1/odoo/execute', 'erp'],
])('the resource "%s" of the proxy has the scopes %s', async (path, scope) => {
  const stage = await startStage();
  const { tokens } = await allow(stage, { resource: stage.url + path });
  expect(readClaims(tokens.access_token)).toMatchObject({ scope, aud: stage.url });
});

describe('tokens', () => {
  test('for another audience or another time are refused, also with the right key', async () => {
    const stage = await startStage();
    const { tokens } = await allow(stage);
    const claims = readClaims(tokens.access_token);
    const key = await openSigningKey(stage);
    const sign = (changes: object) => signToken(key, { ...claims, ...changes });
    const now = Math.floor(Date.now() / 1000);
    for (const changes of [{}, { aud: ['https://other.example.com', stage.url] }, { iat: now + 50 }])
      expect((await listTools(stage, sign(changes))).status).toBe(200);
    for (const changes of [
      { aud: 'https://other.example.com' },
      { aud: `${stage.url}/mcp` },
      { aud: undefined },
      { iss: `${stage.url}/` },
      { iat: now + 300, exp: now + 900 },
      { exp: now - 61 },
      { sub: 'bob' },
      { provider: 'odoo:prod' },
      { cnf: { jkt: 'x' } },
    ])
      expect((await listTools(stage, sign(changes))).status, JSON.stringify(changes)).toBe(401);
    expect((await listTools(stage, signToken(key, claims, { typ: 'logout+jwt' }))).status).toBe(401);
  });

  test('that another issuer signs in the name of the proxy are refused', async () => {
    const stage = await startStage();
    const { tokens } = await allow(stage);
    const claims = readClaims(tokens.access_token);
    const [{ kid }] = await readKeys(stage.url);
    const foreign = [
      signToken(stage.provider.key, claims),
      signToken({ ...makeKey('mine', 'ES256'), kid }, claims),
      signToken(makeKey('mine', 'ES256'), { ...claims, iss: stage.provider.url }),
    ];
    for (const token of foreign) expect((await listTools(stage, token)).status).toBe(401);
    const [head, , signature] = tokens.access_token.split('.');
    for (const change of [{ provider: 'other' }, { sub: 'bob' }, { scope: 'mcp erp' }, { consent: 'x' }]) {
      const body = Buffer.from(JSON.stringify({ ...claims, ...change })).toString('base64url');
      expect((await listTools(stage, `${head}.${body}.${signature}`)).status).toBe(401);
    }
  });

  test('of an application do not reach what its person manages', async () => {
    const stage = await startStage();
    const { tokens } = await allow(stage, { resource: stage.url });
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    for (const path of ['/me/connections', '/me/applications', '/admin/v1/keys'])
      expect((await fetch(stage.url + path, { headers })).status).toBe(401);
    expect((await listTools(stage, tokens.access_token)).status).toBe(200);
    expect((await call(stage, tokens.access_token)).json.error.data.type).toBe('connect_required');
  });

  test('have no secret of the person, and the published keys have no private part', async () => {
    const stage = await startStage();
    stage.provider.claims = { groups: ['secret-group'], email: 'ada@example.com' };
    const { tokens } = await allow(stage);
    expect(JSON.stringify(readClaims(tokens.access_token))).not.toMatch(/secret-group|example\.com/);
    expect(await readKeys(stage.url)).toEqual([expect.not.objectContaining({ d: expect.anything() })]);
    const stored = JSON.stringify(await stage.proxy.app.store.consents.list({ after: null, limit: 9 }));
    expect(stored).not.toMatch(/secret-group|refresh-1/);
    for (const { text } of [{ text: JSON.stringify(stage.proxy.log) }])
      expect(text.includes(tokens.refresh_token) || text.includes(tokens.access_token)).toBe(false);
  });
});

test('a proxy whose store has the secrets of its tokens does not start', async () => {
  const settings = {
    'http.publicUrl': 'https://erp.example.com',
    'auth.policies': JSON.stringify({ own: { instances: ['prod'], models: { '*': ['read'] } } }),
    'signIn.odoo': 'prod',
    'signIn.odooPolicy': 'own',
  };
  const fault = 'signIn is set, and vault.masterKey is empty';
  await expect(startProxy({ settings })).rejects.toThrow(fault);
  const secret = { 'keys.hashSecret': randomBytes(32).toString('base64') };
  closeAfterTest(await startProxy({ settings: { ...settings, ...secret } }));
});
