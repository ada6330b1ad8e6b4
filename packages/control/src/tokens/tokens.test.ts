import { createEgressDispatcher } from '@erp-proxy/egress';
import { parseEgressPolicy } from '@erp-proxy/egress/policy';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { countCases } from '../../../server/test/random-cases.ts';
import {
  AUDIENCE,
  describeIssuer,
  type Issuer,
  makeClaims,
  makeKey,
  READER,
  signHmac,
  signToken,
  startIssuer,
} from '../../../server/test/tokens/issuer.ts';
import { ALGORITHMS, parseIssuers } from './parse-issuers.ts';
import { createTokens } from './tokens.ts';

const NOW = Date.UTC(2026, 0, 1);
const SKEW = 60;
const key = makeKey('first');

/** Opens tokens of one issuer. `more`: changes of its settings. */
async function open(more: Record<string, unknown> = {}, keys = [key]) {
  const issuer = closeAfterTest(await startIssuer(keys));
  const time = { now: NOW, nowMs: 0 };
  const failures: unknown[] = [];
  const { issuers, errors } = parseIssuers({ issuers: [describeIssuer(issuer, more)], policies: {} });
  expect(errors).toEqual([]);
  const egress = closeAfterTest(
    createEgressDispatcher({
      allow: parseEgressPolicy([]).policy,
      connectTimeoutMs: 5000,
      firstByteTimeoutMs: null,
    }),
  );
  const store = openMemoryStore();
  const tokens = closeAfterTest(
    createTokens({
      own: null,
      issuers,
      egress,
      store,
      clock: () => time.now,
      nowMs: () => time.nowMs,
      onFailure: (_name, error) => failures.push(error),
    }),
  );
  const claims = (changes: Record<string, unknown> = {}) => makeClaims(issuer, time.now, changes);
  const check = async (text: string) => {
    const found = await tokens.authenticate(text);
    return 'refused' in found ? found.why : found.key.id;
  };
  return { issuer, time, tokens, store, failures, claims, check };
}

const countReadings = ({ asked }: Issuer) => asked.filter((path) => path === '/jwks').length;

test('accepts a token of each asymmetric algorithm', async () => {
  const keys = ALGORITHMS.map((alg) => makeKey(`key of ${alg}`, alg));
  const { claims, check } = await open({}, keys);
  for (const signing of keys) expect(await check(signToken(signing, claims()))).toBe('corp/ada');
});

test('a token gives the client of its subject, with the policy of the first rule that matches', async () => {
  const sales = { ...READER, limit_max: 5 };
  const { tokens, claims } = await open({
    rules: [
      { claim: ['realm_access', 'roles'], value: 'sales', policy: sales },
      { claim: 'https://example.com/team', pattern: 'erp-*', policy: { ...READER, limit_max: 6 } },
      { claim: 'scope', value: 'erp.read', policy: { ...READER, limit_max: 7 } },
    ],
  });
  const limitOf = async (more: Record<string, unknown>) => {
    const found = await tokens.authenticate(signToken(key, claims(more)));
    return 'refused' in found ? found.why : found.policy?.policy.limit_max;
  };
  expect(await limitOf({ realm_access: { roles: ['x', 'sales'] }, scope: 'erp.read' })).toBe(5);
  expect(await limitOf({ 'https://example.com/team': 'erp-42' })).toBe(6);
  expect(await limitOf({ scope: 'openid erp.read' })).toBe(7);
  for (const more of [
    {},
    { realm_access: { roles: 'salesman' } },
    { realm_access: ['sales'] },
    { 'realm_access.roles': 'sales' },
    { scope: 'erp.read.more' },
    { __proto__: { scope: 'erp.read' } },
  ]) {
    expect(await limitOf(more)).toBe('no_policy');
  }
});

test('a verified token costs no second verification, and its client is the same object', async () => {
  const { tokens, claims, issuer } = await open();
  const text = signToken(key, claims());
  const [first, second] = await Promise.all([tokens.authenticate(text), tokens.authenticate(text)]);
  expect(second).toBe(first);
  expect(await tokens.authenticate(text)).toBe(first);
  expect(countReadings(issuer)).toBe(1);
});

test('refuses every token that differs in one character', async () => {
  const { claims, check } = await open();
  const text = signToken(key, claims());
  expect(await check(text)).toBe('corp/ada');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
  const at = fc.oneof(
    fc.nat({ max: text.length - 1 }),
    // The last characters of each part have bits that decoders ignore.
    fc.constantFrom(...[...text.matchAll(/.(?=\.|$)/g)].map(({ index }) => index)),
  );
  await fc.assert(
    fc.asyncProperty(at, fc.constantFrom(...alphabet, '.', '=', '+', '/', ' ', 'é'), async (index, other) => {
      fc.pre(text[index] !== other);
      expect(await check(text.slice(0, index) + other + text.slice(index + 1))).toBe('invalid');
    }),
    { numRuns: countCases(500) },
  );
});

test('refuses a token that is cut, extended, or put together from two', async () => {
  const { claims, check } = await open();
  const text = signToken(key, claims());
  const [head, body, signature] = text.split('.');
  const [, otherBody, otherSignature] = signToken(key, claims({ sub: 'eve' })).split('.');
  for (const wrong of [
    `${head}.${otherBody}.${signature}`,
    `${head}.${body}.${otherSignature}`,
    `${head}.${body}`,
    `${head}.${body}.`,
    `.${body}.${signature}`,
    `${text}.`,
    `${text}.${signature}`,
    `${text}=`,
    ` ${text}`,
  ]) {
    expect(await check(wrong)).toBe('invalid');
  }
});

test('refuses `none`, symmetric and unlisted algorithms, with every header that could choose a key', async () => {
  const { claims, check } = await open({ algorithms: ['RS256', 'ES256'] }, [key, makeKey('pss', 'PS256')]);
  const pem = (makeKey('first').jwk['n'] as string) ?? '';
  for (const alg of ['none', 'None', 'nOnE', '', 'HS256', 'HS512', 'RS1', 'rs256', 'RSA-OAEP', 'dir']) {
    expect(await check(signToken(key, claims(), { alg }))).toBe('invalid');
    const header = { alg, typ: 'JWT', kid: 'first' };
    for (const secret of ['', 'secret', pem, JSON.stringify(key.jwk)]) {
      expect(await check(signHmac(secret, header, claims()))).toBe('invalid');
    }
  }
  expect(await check(signToken(makeKey('pss', 'PS256'), claims()))).toBe('invalid');
  const stranger = makeKey('stranger');
  for (const header of [
    { kid: 'first' },
    { kid: 'first', jwk: stranger.jwk },
    { kid: 'first', jku: 'http://127.0.0.1:1/jwks' },
    { kid: 'first', x5c: ['MIIB'], x5u: 'http://127.0.0.1:1/' },
    { kid: undefined, jwk: stranger.jwk },
    { kid: '../../dev/null' },
    { kid: "first' OR 1=1" },
    { kid: ['first'] },
    { kid: null },
  ]) {
    expect(await check(signToken(stranger, claims(), header))).toBe('invalid');
  }
  // The same claims are accepted if the right key signs them, even without its name.
  expect(await check(signToken(key, claims(), { kid: undefined }))).toBe('corp/ada');
});

test('refuses extensions and types of token that are made for something else', async () => {
  const { claims, check } = await open();
  for (const header of [
    { crit: ['b64'], b64: false },
    { crit: ['b64'], b64: true },
    { crit: ['exp'], exp: 1 },
    { crit: [] },
    { typ: 'logout+jwt' },
    { typ: 'dpop+jwt' },
    { typ: 'secevent+jwt' },
    { typ: 7 },
  ]) {
    expect(await check(signToken(key, claims(), header))).toBe('invalid');
  }
  for (const typ of [undefined, 'JWT', 'at+jwt', 'application/at+jwt']) {
    expect(await check(signToken(key, claims(), { typ }))).toBe('corp/ada');
  }
  expect(await check(signToken(key, claims({ cnf: { jkt: 'x' } })))).toBe('invalid');
});

test('refuses duplicate members, in the header and in the claims', async () => {
  const { claims, check } = await open();
  const body = JSON.stringify(claims());
  expect(await check(signToken(key, body.replace('{', '{"sub":"eve",')))).toBe('invalid');
  expect(await check(signToken(key, body.replace('{', '{"s\\u0075b":"eve",')))).toBe('invalid');
  expect(await check(signToken(key, body.replace('{', '{"x":{"a":1,"a":2},')))).toBe('invalid');
  const head = '{"alg":"RS256","kid":"first"}';
  expect(await check(signToken(key, claims(), head))).toBe('corp/ada');
  expect(await check(signToken(key, claims(), head.replace('{', '{"alg":"none",')))).toBe('invalid');
  for (const wrong of ['[]', 'null', '1', '"x"', '', '{', '{"sub":"\\ud800"', '\u0000']) {
    expect(await check(signToken(key, wrong))).toBe('invalid');
    expect(await check(signToken(key, claims(), wrong))).toBe('invalid');
  }
});

test('the issuer and the audience are compared as they are written', async () => {
  const { claims, check, issuer } = await open({ audience: [AUDIENCE, 'erp'] });
  const { url } = issuer;
  for (const iss of [
    `${url}/`,
    url.toUpperCase(),
    `${url}#`,
    `${url}?`,
    ` ${url}`,
    url.replace('127.0.0.1', 'localhost'),
    [url],
    null,
    undefined,
    {},
    '__proto__',
  ]) {
    expect(await check(signToken(key, claims({ iss })))).toBe('invalid');
  }
  for (const aud of [
    `${AUDIENCE}/`,
    'https://erp.example.co',
    [],
    [[AUDIENCE]],
    { 0: AUDIENCE },
    '',
    null,
    undefined,
  ]) {
    expect(await check(signToken(key, claims({ aud })))).toBe('invalid');
  }
  for (const aud of ['erp', ['other', 'erp'], [AUDIENCE]]) {
    expect(await check(signToken(key, claims({ aud })))).toBe('corp/ada');
  }
});

test('a token is valid from nbf and iat to exp, with the clock skew on each side', async () => {
  const { claims, check, time } = await open();
  const now = NOW / 1000;
  const cases = fc.record({
    exp: fc.integer({ min: now - 130, max: now + 130 }),
    nbf: fc.option(fc.integer({ min: now - 130, max: now + 130 }), { nil: undefined }),
    iat: fc.option(fc.integer({ min: now - 130, max: now + 130 }), { nil: undefined }),
  });
  const edges = [-1, 0, 1].flatMap((step) => [
    [{ exp: now - SKEW + step, nbf: undefined, iat: undefined }],
    [{ exp: now + 100, nbf: now + SKEW + step, iat: undefined }],
    [{ exp: now + 100, nbf: undefined, iat: now + SKEW + step }],
  ]) as [{ exp: number; nbf: number | undefined; iat: number | undefined }][];
  await fc.assert(
    fc.asyncProperty(cases, async ({ exp, nbf, iat }) => {
      time.now = NOW;
      const isValid = exp > now - SKEW && (nbf ?? 0) <= now + SKEW && (iat ?? 0) <= now + SKEW;
      const text = signToken(key, claims({ exp, nbf, iat }));
      expect((await check(text)) === 'corp/ada').toBe(isValid);
      if (!isValid) return;
      time.now = (exp + SKEW) * 1000 - 1;
      expect(await check(text)).toBe('corp/ada');
      time.now++;
      expect(await check(text)).toBe('expired');
    }),
    { examples: edges, numRuns: countCases(100) },
  );
});

test('refuses times that are no times, and tokens that are valid for too long', async () => {
  const { claims, check } = await open({ maxLifetimeSeconds: 3600 });
  const now = NOW / 1000;
  for (const exp of [undefined, null, '9999999999', true, {}, now + 3601, 1e300]) {
    expect(await check(signToken(key, claims({ exp })))).toBe('invalid');
  }
  const infinite = JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999');
  expect(await check(signToken(key, infinite))).toBe('invalid');
  expect(await check(signToken(key, claims({ exp: now + 3601, iat: undefined })))).toBe('invalid');
  for (const wrong of [{ iat: 'now' }, { nbf: 'now' }, { iat: now - 3600, exp: now + 1 }]) {
    expect(await check(signToken(key, claims(wrong)))).toBe('invalid');
  }
  expect(await check(signToken(key, claims({ exp: now + 3600 })))).toBe('corp/ada');
});

test('refuses a subject that is missing, empty, too long or not printable', async () => {
  const { claims, check } = await open();
  for (const sub of [undefined, null, 7, '', 'x'.repeat(256), 'a b', 'a\nb', 'ädä', 'a\u202eb', ['ada']]) {
    expect(await check(signToken(key, claims({ sub })))).toBe('invalid');
  }
  expect(await check(signToken(key, claims({ sub: 'auth0|5f/../x' })))).toBe('corp/auth0|5f/../x');
});

test('a token without a required scope is told from one that is not valid', async () => {
  const { tokens, claims, check } = await open({ scopes: ['erp', 'erp.write'] });
  expect(await tokens.authenticate(signToken(key, claims({ scope: 'erp' })))).toMatchObject({
    why: 'insufficient_scope',
    keyId: 'corp/ada',
    scopes: ['erp', 'erp.write'],
  });
  expect(await check(signToken(makeKey('x'), claims({ scope: 'erp' })))).toBe('invalid');
  expect(await check(signToken(key, claims({ scope: 'erp.write openid erp' })))).toBe('corp/ada');
  expect(await check(signToken(key, claims({ scp: ['erp.write', 'erp'] })))).toBe('corp/ada');
});

test('a denied subject is refused at once, and accepted again after that', async () => {
  const { tokens, store, claims, check } = await open();
  const text = signToken(key, claims());
  const client = await tokens.authenticate(text);
  await store.deniedSubjects.deny({ id: 'corp/ada', deniedAt: NOW });
  expect(await tokens.authenticate(text)).toMatchObject({ why: 'revoked', keyId: 'corp/ada' });
  expect('refused' in client || (await tokens.renew(client))).toMatchObject({ why: 'revoked' });
  expect(await check(signToken(key, claims({ jti: 'other' })))).toBe('revoked');
  expect(await check(signToken(key, claims({ sub: 'ben' })))).toBe('corp/ben');
  await store.deniedSubjects.allow('corp/ada');
  expect(await tokens.authenticate(text)).toBe(client);
});

test('each further call of a subject costs no store lookup, also if it is not denied', async () => {
  const { tokens, store, claims } = await open();
  const find = vi.spyOn(store.deniedSubjects, 'find');
  const text = signToken(key, claims());
  for (let count = 0; count < 10; count++) await tokens.authenticate(text);
  expect(find).toHaveBeenCalledTimes(1);
});

test('refuses a token over 8 KiB before it reads it', async () => {
  const { claims, tokens, issuer } = await open();
  const large = signToken(key, claims({ filler: 'x'.repeat(8192) }));
  const keys = {
    authenticate: async () => ({ refused: 'malformed', keyId: null }) as const,
    renew: async () => null as never,
  };
  expect(await tokens.joinTo(keys).authenticate(large)).toEqual({ refused: 'malformed', keyId: null });
  expect(issuer.asked).toEqual([]);
});

test('keys are rotated: a new one is found at once, a withdrawn one is refused within ten minutes', async () => {
  const { issuer, claims, check, tokens, time } = await open();
  const old = signToken(key, claims({ exp: NOW / 1000 + 3600 }));
  expect(await check(old)).toBe('corp/ada');
  const client = await tokens.authenticate(old);
  const next = makeKey('second', 'ES256');
  issuer.keys = [next];
  time.nowMs += 10_000;
  expect(await check(signToken(next, claims()))).toBe('corp/ada');
  // The new key set does not have the old key.
  expect(await check(old)).toBe('invalid');
  expect('refused' in client || (await tokens.renew(client))).toMatchObject({ why: 'revoked' });
  issuer.keys = [key];
  time.nowMs += 600_000;
  const current = signToken(next, claims({ jti: '2' }));
  await check(current);
  await expect.poll(() => check(current)).toBe('invalid');
});

test('after an idle time, no token is accepted before the keys are read again', async () => {
  const { issuer, claims, check, time } = await open();
  const seen = signToken(key, claims({ exp: NOW / 1000 + 7200 }));
  const unseen = signToken(key, claims({ exp: NOW / 1000 + 7200, jti: '2' }));
  expect(await check(seen)).toBe('corp/ada');
  issuer.keys = [makeKey('second')];
  time.nowMs += 3_600_000;
  expect(await Promise.all([seen, unseen, seen].map(check))).toEqual(['invalid', 'invalid', 'invalid']);
});

test('an issuer that does not name its keys can replace them', async () => {
  const unnamed = (name: string) => {
    const made = makeKey(name);
    return { ...made, jwk: { ...made.jwk, kid: undefined } };
  };
  const { issuer, claims, check, time } = await open({}, [unnamed('first')]);
  const sign = (name: string, jti: string) => signToken(makeKey(name), claims({ jti }), { kid: undefined });
  expect(await check(sign('first', '1'))).toBe('corp/ada');
  issuer.keys = [unnamed('second')];
  time.nowMs += 10_000;
  expect(await Promise.all([sign('second', '2'), sign('second', '3')].map(check))).toEqual([
    'corp/ada',
    'corp/ada',
  ]);
  expect(await check(sign('first', '1'))).toBe('invalid');
  expect(countReadings(issuer)).toBe(2);
});

test('a token that names no key is verified by each key that fits, while the issuer has several', async () => {
  const keys = ['first', 'second', 'third', 'fourth', 'fifth'].map((name) => makeKey(name));
  const { claims, check } = await open({}, [...keys, makeKey('curve', 'ES256')]);
  for (const each of keys)
    expect(await check(signToken(each, claims(), { kid: undefined }))).toBe('corp/ada');
  expect(await check(signToken(makeKey('stranger'), claims(), { kid: undefined }))).toBe('invalid');
  expect(await check(signToken(key, claims({ exp: NOW / 1000 - 120 }), { kid: undefined }))).toBe('expired');
  const more = await open({}, [...keys, makeKey('sixth')]);
  for (const each of keys) {
    expect(await more.check(signToken(each, more.claims(), { kid: undefined }))).toBe('invalid');
    expect(await more.check(signToken(each, more.claims()))).toBe('corp/ada');
  }
});

test('a key that its provider writes with a leading zero, or without one, is the same key', async () => {
  const widen = (text: unknown) =>
    Buffer.concat([Buffer.from([0]), Buffer.from(String(text), 'base64url')]).toString('base64url');
  const { jwk } = key;
  for (const changes of [
    { n: widen(jwk['n']) },
    { e: widen(jwk['e']) },
    { n: Buffer.from(String(jwk['n']), 'base64url').toString('base64') },
  ]) {
    const { tokens, claims } = await open({}, [{ ...key, jwk: { ...jwk, ...changes } }]);
    const client = await tokens.authenticate(signToken(key, claims()));
    expect('refused' in client || (await tokens.renew(client))).toBe(client);
  }
  const curve = makeShortKey();
  const { tokens, claims } = await open({}, [curve]);
  const client = await tokens.authenticate(signToken(curve, claims()));
  expect('refused' in client || (await tokens.renew(client))).toBe(client);
});

/** Makes a key whose coordinate begins with a zero byte, which its provider omits. */
function makeShortKey() {
  for (let index = 0; ; index++) {
    const made = makeKey(`short ${index}`, 'ES256');
    const x = Buffer.from(String(made.jwk['x']), 'base64url');
    if (x[0] === 0) return { ...made, jwk: { ...made.jwk, x: x.subarray(1).toString('base64url') } };
  }
}

test('a key that stands twice in the key set is one key', async () => {
  const { claims, check } = await open({}, [key, key]);
  expect(await check(signToken(key, claims()))).toBe('corp/ada');
});

test('a key that stands with and without its algorithm in the key set is one key', async () => {
  const { alg, ...jwk } = key.jwk;
  expect(alg).toBeDefined();
  const { claims, check } = await open({}, [key, { ...key, jwk }]);
  expect(await check(signToken(key, claims()))).toBe('corp/ada');
});

test('tokens of one subject with different policies are told apart by the version of its key', async () => {
  const { tokens, claims } = await open({
    rules: [{ claim: 'groups', value: 'all', policy: { ...READER, limit_max: 5 } }, { policy: READER }],
  });
  const versionOf = async (more: Record<string, unknown>) => {
    const found = await tokens.authenticate(signToken(key, claims(more)));
    return 'refused' in found ? found.why : `${found.key.id} ${found.key.version}`;
  };
  expect(await versionOf({ groups: ['all'] })).not.toBe(await versionOf({}));
  expect(await versionOf({ jti: '1' })).toBe(await versionOf({ jti: '2' }));
});

test('a key set under the same name with another key does not verify older tokens', async () => {
  const { issuer, claims, check, time } = await open();
  const text = signToken(key, claims({ exp: NOW / 1000 + 3600 }));
  expect(await check(text)).toBe('corp/ada');
  issuer.keys = [{ ...makeKey('other'), jwk: { ...makeKey('other').jwk, kid: 'first' } }];
  time.nowMs += 600_000;
  await check(text);
  await expect.poll(() => check(text)).toBe('invalid');
});

test('unknown keys make the proxy ask once in ten seconds, however many tokens name them', async () => {
  const { issuer, claims, check, time } = await open();
  expect(await check(signToken(key, claims()))).toBe('corp/ada');
  const stranger = makeKey('stranger');
  for (let round = 0; round < 3; round++) {
    const before = countReadings(issuer);
    time.nowMs += 10_000;
    const kids = Array.from({ length: 50 }, (_, index) => `${round} ${index}`);
    await Promise.all(
      kids.map(async (kid) => expect(await check(signToken(stranger, claims(), { kid }))).toBe('invalid')),
    );
    expect(countReadings(issuer)).toBe(before + 1);
  }
});

test('while the issuer is down, its last keys work for four hours; without keys nothing is refused for good', async () => {
  const { issuer, claims, check, time, failures, tokens } = await open();
  issuer.answer = () => ({ status: 503, body: 'down' });
  const pass = (ms: number) => {
    time.now += ms;
    time.nowMs += ms;
  };
  await tokens.readKeys();
  expect(tokens.states()).toEqual([{ issuer: 'corp', failure: expect.stringContaining('status 503') }]);
  expect(await check(signToken(key, claims()))).toBe('keys_away');
  issuer.answer = null;
  pass(10_000);
  expect(await check(signToken(key, claims()))).toBe('corp/ada');
  issuer.answer = () => ({ status: 503, body: 'down' });
  const failed = failures.length;
  pass(4 * 3_600_000 - 1);
  expect(await check(signToken(key, claims()))).toBe('corp/ada');
  await expect.poll(() => failures.length).toBe(failed + 1);
  const last = await tokens.authenticate(signToken(key, claims({ jti: 'last' })));
  pass(1);
  expect(await check(signToken(key, claims()))).toBe('keys_away');
  expect('refused' in last || (await tokens.renew(last))).toMatchObject({ why: 'keys_away' });
});

test('hostile key sets and configurations are refused, and the last keys stay', async () => {
  const { issuer, claims, check, time, failures } = await open();
  expect(await check(signToken(key, claims()))).toBe('corp/ada');
  const configuration = (changes: object) => (path: string) =>
    path === '/jwks'
      ? null
      : {
          status: 200,
          body: JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks`, ...changes }),
        };
  const keySet = (body: string) => (path: string) => (path === '/jwks' ? { status: 200, body } : null);
  const weak = makeKey('weak', 'RS256', 1024);
  const curve = makeKey('curve', 'ES256');
  const cases: [Issuer['answer'], RegExp][] = [
    [configuration({ issuer: `${issuer.url}/` }), /is of the issuer/],
    [configuration({ issuer: undefined }), /is of the issuer null/],
    [configuration({ jwks_uri: 7 }), /no jwks_uri/],
    [configuration({ jwks_uri: 'file:///etc/passwd' }), /denied/],
    [configuration({ jwks_uri: 'http://169.254.169.254/keys' }), /denied/],
    [configuration({ jwks_uri: `http://127.0.0.2:${new URL(issuer.url).port}/jwks` }), /denied/],
    [() => ({ status: 200, body: `{"issuer":"${issuer.url}","issuer":"x"}` }), /twice/],
    [() => ({ status: 302, body: '' }), /status 302/],
    [keySet(`{"keys":[${'{},'.repeat(100)}{}]}`), /more than 100 keys/],
    [keySet(`{"keys":[],"filler":"${'x'.repeat(300_000)}"}`), /larger than/],
    [keySet('['.repeat(100_000)), /not JSON/],
    [keySet('{"keys":{}}'), /no list/],
    [
      keySet(JSON.stringify({ keys: [weak.jwk, { kty: 'oct', k: 'AAAA', kid: 'first' }, null, 7] })),
      /no key/,
    ],
    [
      keySet(
        JSON.stringify({
          keys: [
            { ...key.jwk, use: 'enc' },
            { ...key.jwk, e: 'AQ' },
            { ...curve.jwk, x: curve.jwk['y'] },
          ],
        }),
      ),
      /no key/,
    ],
    [
      keySet(JSON.stringify({ keys: [{ ...key.jwk, n: Buffer.alloc(2000, 255).toString('base64url') }] })),
      /no key/,
    ],
  ];
  for (const [answer, message] of cases) {
    issuer.answer = answer;
    time.nowMs += 10_000;
    const before = failures.length;
    expect(await check(signToken(weak, claims()))).toBe('invalid');
    expect(String(failures.at(-1))).toMatch(message);
    expect(failures.length).toBe(before + 1);
    expect(await check(signToken(key, claims({ jti: String(time.nowMs) })))).toBe('corp/ada');
  }
});
