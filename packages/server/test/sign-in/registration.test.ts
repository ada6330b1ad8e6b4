/** How applications become known: by registration, and by a document at their address. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { listenOnFreePort } from '../listen.ts';
import { Application, Browser, type Json, postJson } from './application.ts';
import { allow, findFreePort, listTools, signIn, startStage } from './stage.ts';

const URIS = { redirect_uris: ['https://app.example.com/callback'] };

describe('a registration', () => {
  test.each([
    ['no address', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['no list of addresses', { redirect_uris: 'https://app.example.com' }, 'invalid_redirect_uri'],
    ['many addresses', { redirect_uris: Array(11).fill('https://a.example') }, 'invalid_redirect_uri'],
    ['plain http', { redirect_uris: ['http://app.example.com'] }, 'invalid_redirect_uri'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a script with a tab', { redirect_uris: ['java\tscript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a script with a space', { redirect_uris: [' javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['an empty fragment', { redirect_uris: ['https://app.example.com/#'] }, 'invalid_redirect_uri'],
    ['data', { redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    [
      'a user in an address',
      { redirect_uris: ['https://good.example@evil.example'] },
      'invalid_redirect_uri',
    ],
    ['a fragment', { redirect_uris: ['https://app.example.com/#x'] }, 'invalid_redirect_uri'],
    ['the implicit grant', { ...URIS, grant_types: ['implicit'] }, 'invalid_client_metadata'],
    ['another response', { ...URIS, response_types: ['token'] }, 'invalid_client_metadata'],
    [
      'keys of its own',
      { ...URIS, token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
    ['a long name', { ...URIS, client_name: 'x'.repeat(1001) }, 'invalid_client_metadata'],
    ['a list', [], 'invalid_redirect_uri'],
    ['no JSON', '{', 'invalid_redirect_uri'],
  ])('with %s is refused', async (_, body, error) => {
    const { url } = await startStage();
    const answer = await postJson(`${url}/oauth/register`, body);
    expect(answer).toMatchObject({ status: 400, json: { error } });
    expect(answer.json.error_description.length).toBeGreaterThan(20);
  });

  test('with an address of the proxy is refused, and a large one is not read', async () => {
    const { url } = await startStage();
    const own = await postJson(`${url}/oauth/register`, { redirect_uris: [`${url}/me`] });
    expect(own.json.error_description).toContain('addresses of the proxy itself');
    const large = await postJson(`${url}/oauth/register`, { ...URIS, x: 'x'.repeat(20_000) });
    expect(large.status).toBe(413);
  });

  test('is bounded in number for an address, and no other address waits', async () => {
    const { url, proxy } = await startStage({ settings: { 'http.trustProxy': '127.0.0.1' } });
    const statuses: number[] = [];
    for (let count = 0; count < 62; count++) {
      const { status } = await postJson(`${url}/oauth/register`, URIS, { 'x-forwarded-for': '192.0.2.1' });
      statuses.push(status);
    }
    expect(statuses.slice(0, 60)).toEqual(Array(60).fill(201));
    expect(statuses.slice(60)).toEqual([429, 429]);
    const other = await postJson(`${url}/oauth/register`, URIS, { 'x-forwarded-for': '192.0.2.2' });
    expect(other.status).toBe(201);
    expect(await proxy.app.store.signInObjects.list('NewClient')).toHaveLength(61);
  });

  test('finds room, however many applications persons have agreed to, and ends none of these', async () => {
    const stage = await startStage();
    const { application: used } = await allow(stage);
    const { signInObjects } = stage.proxy.app.store;
    const [row] = await signInObjects.list('Client');
    const many = Array.from({ length: 5000 }, (_, index) => ({ ...row!, id: `other-${index}` }));
    for (const other of many) await signInObjects.put(other, null);
    for (const application of [new Application(stage.url), used]) {
      if (application !== used) await application.register();
      expect((await signIn(stage, new Browser(), application.address())).text).toContain('to act as you?');
    }
    const waiting = many.map((other) => ({
      ...other,
      kind: 'NewClient',
      expiresAt: Date.now() + 90_000_000,
    }));
    for (const other of waiting) await signInObjects.put(other, null);
    await new Application(stage.url).register();
    expect(await signInObjects.list('NewClient')).toHaveLength(5000);
    expect((await signIn(stage, new Browser(), used.address())).text).toContain('to act as you?');
  });

  test('is forgotten after a day, unless somebody has agreed', async () => {
    const time = { passedMs: 0 };
    const stage = await startStage({ clock: () => Date.now() + time.passedMs });
    stage.provider.now = () => Math.floor((Date.now() + time.passedMs) / 1000);
    const { application: used } = await allow(stage);
    const unused = new Application(stage.url);
    await unused.register();
    time.passedMs = 25 * 3_600_000;
    expect((await new Browser().go(unused.address())).text).toContain('The application is not known here');
    expect((await signIn(stage, new Browser(), used.address())).text).toContain('to act as you?');
  });

  test('with a secret needs it for each token', async () => {
    const stage = await startStage();
    const application = new Application(stage.url);
    const { json } = await application.register({ token_endpoint_auth_method: 'client_secret_post' });
    const browser = new Browser();
    browser.stopsAt.push(application.redirectUri);
    const page = await signIn(stage, browser, application.address());
    const { url } = await browser.submit(page, { answer: 'allow' });
    expect((await application.takeCode(url)).json.error).toBe('invalid_client');
    expect((await application.takeCode(url, { client_secret: 'guessed' })).json.error).toBe('invalid_client');
    expect((await application.takeCode(url, { client_secret: json.client_secret })).status).toBe(200);
    expect(JSON.stringify(await stage.proxy.app.store.signInObjects.list('Client'))).not.toContain(
      json.client_secret,
    );
  });
});

describe('an application that describes itself at its address', () => {
  const certificates = getCACertificates('default');
  afterEach(() => setDefaultCACertificates(certificates));

  async function startApplication(change: (url: string) => object = () => ({})) {
    setDefaultCACertificates([...certificates, TEST_CERTIFICATE]);
    const asked: string[] = [];
    const server = createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (request, response) => {
      asked.push(request.url ?? '');
      const answer: Json = { ...document(), ...change(url) };
      const { status = 200, location, ...members } = answer;
      response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) });
      response.end(JSON.stringify(members));
    });
    const port = await listenOnFreePort(server);
    closeAfterTest({
      close() {
        server.close();
        server.closeAllConnections();
      },
    });
    const url = `https://localhost:${port}`;
    const document = () => ({
      client_id: `${url}/client.json`,
      client_name: 'Documented',
      redirect_uris: ['https://app.example.com/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
    return { url, asked };
  }

  const open = async (url: string, allowed: readonly string[]) => {
    const stage = await startStage({ allow: allowed });
    const application = new Application(stage.url);
    application.clientId = `${url}/client.json`;
    return { stage, application };
  };

  test('needs no registration', async () => {
    const { url, asked } = await startApplication();
    const { stage, application } = await open(url, [url]);
    const { page, tokens } = await allow(stage, { application });
    expect(page.text).toContain('Allow “Documented” to act as you?');
    expect(page.text).toContain(`${url}/client.json`);
    expect((await listTools(stage, tokens.access_token)).status).toBe(200);
    expect((await application.refresh(tokens.refresh_token)).status).toBe(200);
    expect(asked).toEqual(['/client.json']);
  });

  test('is asked again by a replica that does not know it yet, also for the page', async () => {
    let status = 200;
    const { url, asked } = await startApplication(() => ({ status }));
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-sign-in-'));
    closeAfterTest({ close: () => rmSync(folder, { recursive: true, force: true }) });
    const settings = { 'store.url': `sqlite:${join(folder, 'store.db')}` };
    const one = await startStage({ allow: [url], settings });
    const two = await startStage({
      allow: [url],
      provider: one.provider,
      settings: { ...settings, 'http.port': String(await findFreePort()), 'http.publicUrl': one.url },
    });
    const application = new Application(one.url);
    application.clientId = `${url}/client.json`;
    const browser = new Browser();
    browser.stopsAt.push(application.redirectUri);
    const page = await signIn(one, browser, application.address());
    browser.route = (address) => address.replace(one.url, two.proxy.url);
    status = 404;
    expect((await browser.go(page.url)).status).toBe(400);
    status = 200;
    expect((await browser.go(page.url)).text).toContain('Allow “Documented” to act as you?');
    expect((await browser.submit(page, { answer: 'allow' })).url).toContain('code=');
    expect(asked).toHaveLength(3);
  });

  test('is not asked at an address that the egress guard refuses', async () => {
    const { url, asked } = await startApplication();
    const { application } = await open(url, []);
    for (const clientId of [
      application.clientId,
      'https://127.0.0.1/client.json',
      'https://169.254.169.254/latest/meta-data',
      'http://app.example.com/client.json',
    ]) {
      application.clientId = clientId;
      const { status, text } = await new Browser().go(application.address());
      expect({ status, text }).toMatchObject({
        status: 400,
        text: expect.stringContaining('The application is not known here'),
      });
    }
    expect(asked).toEqual([]);
  });

  test.each([
    ['a foreign id', () => ({ client_id: 'https://other.example.com/client.json' })],
    ['a secret', () => ({ client_secret: 'x' })],
    ['a redirect', (url: string) => ({ status: 302, location: `${url}/other.json` })],
    ['plain http', () => ({ application_type: 'web', redirect_uris: ['http://app.example.com/callback'] })],
    ['too much', () => ({ client_name: 'x'.repeat(20_000) })],
  ])('with %s is refused', async (_, change) => {
    const { url } = await startApplication(change);
    const { application } = await open(url, [url]);
    const { status } = await new Browser().go(application.address());
    expect(status).toBe(400);
  });
});

describe('the metadata', () => {
  test('name the proxy as the authorization server of its routes', async () => {
    const { url, provider } = await startStage();
    const read = async (path: string) => {
      const answer = await fetch(url + path);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      return answer.json();
    };
    const refused = await send(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    expect(refused.status).toBe(401);
    const [, resource = ''] =
      /resource_metadata="([^"]+)"/.exec(String(refused.headers['www-authenticate'])) ?? [];
    expect(await read(resource.replace(url, ''))).toMatchObject({
      resource: `${url}/mcp`,
      authorization_servers: [url, provider.url],
      scopes_supported: ['mcp'],
    });
    expect(await read('/.well-known/oauth-authorization-server')).toMatchObject({
      issuer: url,
      authorization_endpoint: `${url}/oauth/authorize`,
      token_endpoint: `${url}/oauth/token`,
      registration_endpoint: `${url}/oauth/register`,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });

  test('and all routes are absent without the setting', async () => {
    const { url } = await startStage({ settings: { 'signIn.providers': '' } });
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/oauth/authorize',
      '/oauth/jwks',
      '/oauth/sign-in/x',
    ])
      expect((await send(url + path)).status).toBe(404);
    for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke'])
      expect((await send(url + path, { method: 'POST' })).status).toBe(404);
  });
});
