/** Tests tokens of an identity provider on the routes of calls: accepted like keys, and refused like keys. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall, printInstance } from '../execute/expectations.ts';
import {
  type HttpAnswer,
  type ProxyOptions,
  type Proxy as RunningProxy,
  send,
  startProxy,
} from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { measureMs } from '../time.ts';
import {
  AUDIENCE,
  describeIssuer,
  makeClaims,
  makeKey,
  READER,
  signHmac,
  signToken,
  startIssuer,
} from './issuer.ts';

const PUBLIC_URL = 'https://erp.example.com';
const key = makeKey('first');

async function start(
  more: Record<string, unknown> = {},
  settings: Record<string, string> = {},
  clocks: Pick<ProxyOptions, 'nowMs'> = {},
) {
  const issuer = closeAfterTest(await startIssuer());
  const upstream = closeAfterTest(
    await startUpstream((socket) => answerLikeOdoo(socket, printResult('[{"id": 3}]'))),
  );
  const time = { now: Date.now() };
  const proxy = closeAfterTest(
    await startProxy({
      allow: [upstream.url],
      clock: () => time.now,
      ...clocks,
      settings: {
        'auth.issuers': JSON.stringify([describeIssuer(issuer, more)]),
        'http.publicUrl': PUBLIC_URL,
        'upstream.refusedCredentialsTtlMs': '0',
        ...settings,
      },
    }),
  );
  const claims = (changes: Record<string, unknown> = {}) => makeClaims(issuer, time.now, changes);
  const token = (changes: Record<string, unknown> = {}) => signToken(key, claims(changes));
  const read = (changes: Record<string, string> = {}) =>
    printCall(upstream.url, { action: '"read"', ...changes });
  return { issuer, upstream, proxy, time, claims, token, read };
}

/** Sends a call with this text as the bearer token, and no key. */
function ask(
  { url }: RunningProxy,
  body: string,
  token: string | null,
  { path = '/api/erp/execute', ...headers }: Record<string, string> = {},
): Promise<HttpAnswer> {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return send(url + path, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json', ...headers },
    body,
  });
}

test('a token makes calls on every route of calls, within its policy', async () => {
  const { proxy, upstream, token, read } = await start();
  const compatible = JSON.stringify({
    id: '1',
    action: 'search_read',
    model_id: 'res.partner',
    params: [[]],
    keyword: {},
    odoo_instance: JSON.parse(printInstance(upstream.url)),
  });
  const text = token();
  expect((await ask(proxy, read(), text)).status).toBe(200);
  for (const path of ['/api/odoo/execute', '/v1/odoo/execute', '/api/odoo']) {
    expect((await ask(proxy, compatible, text, { path })).status).toBe(200);
  }
  // The headers for keys accept a token too.
  expect((await ask(proxy, read(), null, { 'x-proxy-api': text })).status).toBe(200);
  const batch = await ask(proxy, `[${read()},${read({ id: '2', action: '"unlink"' })}]`, text);
  expect(JSON.parse(batch.body.toString())).toMatchObject([
    { result: [{ id: 3 }] },
    { id: 2, error: { data: { type: 'policy_denied' } } },
  ]);
  // Client keys still work.
  expect((await proxy.post(read())).status).toBe(200);
});

test('a token works on a connection of its own bytes, and on one of Node', async () => {
  const { proxy, token, read } = await start();
  const { hostname, port } = new URL(proxy.url);
  const body = read();
  for (const extra of ['', 'expect: 100-continue\r\n', `x-filler: ${'x'.repeat(9000)}\r\n`]) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /api/erp/execute HTTP/1.1\r\nhost: x\r\nauthorization: bearer ${token()}\r\n${extra}content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
    expect(await text(socket)).toContain('HTTP/1.1 200 OK');
  }
});

test('refused tokens get the same bytes as a refused key, and the log has the reason', async () => {
  const { proxy, token, claims, read, time } = await start({}, { 'http.trustProxy': '127.0.0.1' });
  const foreign = { ...describeStranger(), iss: 'https://login.example.net' };
  const refused = {
    forged: signToken(makeKey('other'), claims(), { kid: 'first' }),
    expired: token({ exp: Math.floor(time.now / 1000) - 61 }),
    foreign: token(foreign),
    audience: token({ aud: 'https://other.example.com' }),
    none: signHmac('', { alg: 'none', typ: 'JWT' }, claims()),
    symmetric: signHmac(JSON.stringify(key.jwk), { alg: 'HS256', kid: 'first' }, claims()),
    broken: 'a.b.c',
    huge: token({ filler: 'x'.repeat(8192) }),
    key: `${proxy.key}x`,
  };
  const answers: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(refused)) {
    // Each request has another address, because refusals of one address are slowed down.
    const address = { 'x-forwarded-for': `192.0.2.${Object.keys(answers).length}` };
    const { status, headers, body } = await ask(proxy, read(), text, { 'x-request-id': 'same', ...address });
    const { date: _, 'keep-alive': _alive, ...sent } = headers;
    answers[name] = { status, sent, body: body.toString() };
  }
  const { key: expected } = answers;
  expect(expected).toMatchObject({ status: 401 });
  for (const answer of Object.values(answers)) expect(answer).toEqual(expected);
  const refusals = () => proxy.log.filter(({ msg }) => msg === 'refused');
  await expect.poll(refusals).toHaveLength(Object.keys(refused).length);
  const details = refusals().map(({ detail }) => detail);
  expect(details.join('\n')).toMatch(
    /^token invalid: ERR_JWS_SIGNATURE.*\ntoken expired \(corp\/ada\): .*\n.*login\.example\.net.*\n.*aud is wrong.*\n.*ALG.*\n.*ALG.*\ntoken invalid: not a JSON Web Token\nkey malformed\nkey malformed$/,
  );
  expect(JSON.stringify(proxy.log)).not.toContain(refused.forged.slice(0, 40));
  expect(refusals().at(-1)).toMatchObject({ keyId: null });
});

const describeStranger = () => ({ sub: 'eve' });

/** The same values as in keys/slowdown.ts. */
const FREE_FAILURES = 5;
const FIRST_DELAY_MS = 250;

test('refused tokens are slowed down as refused keys are', async () => {
  // The clock stands still, so that no refusal is forgiven.
  const { proxy, read, claims } = await start({}, {}, { nowMs: () => 1_000_000 });
  const forged = signToken(makeKey('other'), claims());
  for (let count = 0; count < FREE_FAILURES; count++) await ask(proxy, read(), forged);
  const tookMs = await measureMs(async () => {
    expect((await ask(proxy, read(), forged)).status).toBe(401);
  });
  expect(tookMs).toBeGreaterThanOrEqual(FIRST_DELAY_MS - 1);
});

test('a token without a policy or a scope gets 403, which says what to do', async () => {
  const { proxy, token, read } = await start({
    scopes: ['erp'],
    rules: [{ claim: 'groups', value: 'sales', policy: READER }],
  });
  const none = await ask(proxy, read(), token({ scope: 'erp' }));
  expect(JSON.parse(none.body.toString()).error).toMatchObject({
    message: expect.stringContaining('no policy for this token'),
    data: { type: 'policy_denied', rule: 'auth.issuers', retryable: false },
  });
  const scope = await ask(proxy, read(), token({ groups: ['sales'] }));
  expect([none.status, scope.status]).toEqual([403, 403]);
  expect(scope.headers['www-authenticate']).toBe(
    `Bearer resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/api/erp/execute", error="insufficient_scope", scope="erp"`,
  );
  expect((await ask(proxy, read(), token({ scope: 'erp', groups: ['sales'] }))).status).toBe(200);
});

test('while the keys of the issuer cannot be read, its tokens get 503 and keys work on', async () => {
  const issuer = await startIssuer();
  issuer.close();
  const settings = {
    'auth.issuers': JSON.stringify([describeIssuer(issuer)]),
    'http.publicUrl': PUBLIC_URL,
  };
  const proxy = closeAfterTest(await startProxy({ settings }));
  const token = signToken(key, makeClaims(issuer, Date.now()));
  const answer = await ask(proxy, '{}', token);
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body.toString()).error.data).toEqual({
    type: 'overloaded',
    retryable: true,
    outcome: 'not_sent',
  });
  expect(answer.headers['retry-after']).toBe('10');
  expect((await proxy.post('{}')).status).toBe(400);
  const ready = await send(`${proxy.url}/readyz`);
  expect([ready.status, JSON.parse(ready.body.toString())]).toMatchObject([
    200,
    { status: 'degraded', checks: { token_issuers: expect.stringContaining('corp') } },
  ]);
  expect((await send(`${proxy.url}/metrics`)).body.toString()).toContain(
    'erp_proxy_issuer_up{issuer="corp"} 0',
  );
});

test('the policy decides which web pages may use a token', async () => {
  const { proxy, token, read } = await start({
    rules: [
      { claim: 'sub', value: 'page', policy: { ...READER, cors_origins: ['https://app.example.com'] } },
      { policy: READER },
    ],
  });
  const origin = 'https://app.example.com';
  expect((await ask(proxy, read(), token(), { origin })).status).toBe(403);
  const allowed = await ask(proxy, read(), token({ sub: 'page' }), { origin });
  expect(allowed.status).toBe(200);
  expect(allowed.headers['access-control-expose-headers']).toContain('www-authenticate');
  expect((await ask(proxy, read(), token({ sub: 'page' }), { origin: 'https://evil.example' })).status).toBe(
    403,
  );
});

test('limits count by subject, whatever its tokens', async () => {
  const { proxy, token, read } = await start({ rules: [{ policy: { ...READER, per_day: 2 } }] });
  const statusOf = async (changes: Record<string, unknown>) =>
    (await ask(proxy, read(), token(changes))).status;
  expect(await statusOf({ jti: '1' })).toBe(200);
  expect(await statusOf({ jti: '2' })).toBe(200);
  expect(await statusOf({ jti: '3' })).toBe(429);
  expect(await statusOf({ sub: 'ben' })).toBe(200);
});

test('log and audit name issuer and subject, and metrics do not name subjects', async () => {
  const { proxy, token, read, time } = await start();
  await ask(proxy, read(), token({ sub: 'user-4711' }));
  await ask(proxy, read(), token({ sub: 'user-4711', exp: Math.floor(time.now / 1000) - 61 }));
  await expect
    .poll(() => proxy.log.find(({ msg }) => msg === 'call'))
    .toMatchObject({ keyId: 'corp/user-4711', outcome: 'ok' });
  await expect
    .poll(async () => (await proxy.app.audit.search({ key_id: 'corp/user-4711' })).items)
    .toMatchObject([{ rule: 'key:expired' }, { outcome: 'ok', action: 'read' }]);
  const { body } = await send(`${proxy.url}/metrics`);
  expect(body.toString()).toContain('erp_proxy_issuer_up{issuer="corp"} 1');
  expect(body.toString()).not.toContain('user-4711');
});

test('metadata and challenge lead to the issuer, for the public address alone', async () => {
  const { proxy, issuer, read } = await start({ scopes: ['erp'] });
  const hostile = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
  const { status, headers } = await ask(proxy, read(), null, hostile);
  const [, url] = /^Bearer resource_metadata="([^"]+)"$/.exec(headers['www-authenticate'] ?? '') ?? [];
  expect([status, url]).toEqual([401, `${PUBLIC_URL}/.well-known/oauth-protected-resource/api/erp/execute`]);
  for (const path of ['', '/api/erp/execute', '/api/odoo/execute', '/mcp']) {
    const answer = await send(`${proxy.url}/.well-known/oauth-protected-resource${path}`, {
      headers: hostile,
    });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, '*']);
    expect(JSON.parse(answer.body.toString())).toEqual({
      resource: PUBLIC_URL + path,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
      resource_name: 'erp-proxy',
      scopes_supported: ['erp'],
    });
  }
  const preflight = await send(`${proxy.url}/.well-known/oauth-protected-resource`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://inspector.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'mcp-protocol-version',
    },
  });
  expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([
    204,
    '*, authorization',
  ]);
  const mcp = await ask(proxy, '{}', null, { path: '/mcp' });
  expect(mcp.headers['www-authenticate']).toContain(
    `"${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`,
  );
  const invalid = await ask(proxy, read(), 'a.b.c');
  expect(invalid.headers['www-authenticate']).toMatch(/", error="invalid_token"$/);
});

test('a public address with a path keeps it', async () => {
  const { proxy } = await start({}, { 'http.publicUrl': 'https://example.com/erp/' });
  const path = '/.well-known/oauth-protected-resource/erp/api/erp/execute';
  expect((await ask(proxy, '{}', null)).headers['www-authenticate']).toContain(
    `"https://example.com${path}"`,
  );
  expect(JSON.parse((await send(proxy.url + path)).body.toString()).resource).toBe(
    'https://example.com/erp/api/erp/execute',
  );
});

test('without issuers there is no metadata and no challenge, and a token is a malformed key', async () => {
  const proxy = closeAfterTest(await startProxy());
  const answer = await ask(proxy, '{}', signToken(key, { iss: 'x', aud: AUDIENCE }));
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, undefined]);
  expect((await send(`${proxy.url}/.well-known/oauth-protected-resource`)).status).toBe(404);
});
