/** HTTP 401: the client key is missing, unknown, expired or revoked. A caller cannot tell which. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type HttpAnswer, send, startProxy } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { expectError, makeClock, printCall } from './expectations.ts';

let pair: Pair;

const expectUnauthorized = (answer: HttpAnswer) =>
  expectError(answer, {
    status: 401,
    code: -32000,
    type: 'unauthorized',
    says: /key in the header x-proxy-api/,
  });

test('unauthorized: no key, an empty one, and malformed ones', async () => {
  const clock = makeClock();
  pair = closeAfterTest(await startPair(undefined, { nowMs: clock.now }));
  const { proxy, upstream } = pair;
  const { key } = proxy;
  const other = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  for (const bad of [
    null,
    '',
    'x',
    other,
    key.toUpperCase(),
    ` ${key.slice(1)}`,
    `${key}${key}`,
    `${key}, ${key}`,
  ]) {
    clock.advance(60_000);
    expectUnauthorized(await sendCall(bad));
  }
  expect(upstream.connections()).toBe(0);
});

test('unauthorized: a key of another proxy', async () => {
  pair = closeAfterTest(await startPair());
  const stranger = closeAfterTest(await startProxy());
  expectUnauthorized(await pair.proxy.post(printCall(pair.upstream.url), { 'x-proxy-api': stranger.key }));
});

test('unauthorized: an expired key, from the millisecond of its expiry', async () => {
  const clock = makeClock();
  pair = closeAfterTest(await startPair(undefined, { clock: clock.now }));
  const { proxy, upstream } = pair;
  const { key } = await proxy.app.keys.create({ name: 'short', expiresAt: clock.now() + 1000 });
  const call = () => proxy.post(printCall(upstream.url), { 'x-proxy-api': key });
  clock.advance(999);
  expect((await call()).status).toBe(200);
  clock.advance(1);
  expectUnauthorized(await call());
});

test('unauthorized: a revoked key, immediately', async () => {
  pair = closeAfterTest(await startPair());
  const { proxy, upstream } = pair;
  const {
    key,
    record: { id },
  } = await proxy.app.keys.create({ name: 'gone' });
  const call = () => proxy.post(printCall(upstream.url), { 'x-proxy-api': key });
  expect((await call()).status).toBe(200);
  await proxy.app.keys.revoke(id);
  expectUnauthorized(await call());
});

test('the key may be sent as a bearer token', async () => {
  pair = closeAfterTest(await startPair());
  const { proxy, upstream } = pair;
  const call = (headers: Record<string, string>) => proxy.post(printCall(upstream.url), headers);
  expect((await call({ 'x-proxy-api': '', authorization: `Bearer ${proxy.key}` })).status).toBe(200);
  expect((await call({ authorization: `bearer ${proxy.key}` })).status).toBe(200);
  expectUnauthorized(await call({ 'x-proxy-api': '', authorization: 'Bearer other' }));
  expectUnauthorized(await call({ 'x-proxy-api': '', authorization: `Basic ${proxy.key}` }));
});

test('a bearer token for a proxy in front does not count as a second key, but another client key does', async () => {
  pair = closeAfterTest(await startPair());
  const { proxy, upstream } = pair;
  const call = (token: string) => proxy.post(printCall(upstream.url), { authorization: `Bearer ${token}` });
  expect((await call('eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl')).status).toBe(200);
  const other = await proxy.app.keys.create({ name: 'other' });
  expectError(await call(other.key), {
    status: 400,
    code: -32600,
    type: 'invalid_request',
    says: /Two headers have different client keys/,
  });
});

test('has the same text for every reason', async () => {
  const clock = makeClock();
  pair = closeAfterTest(await startPair(undefined, { clock: clock.now }));
  const { proxy } = pair;
  const revoked = await proxy.app.keys.create({ name: 'revoked' });
  await proxy.app.keys.revoke(revoked.record.id);
  const expired = await proxy.app.keys.create({ name: 'expired', expiresAt: clock.now() + 1 });
  clock.advance(10);
  const answers = await Promise.all(
    [revoked.key, expired.key, 'nonsense'].map((key) =>
      proxy.post('{}', { 'x-proxy-api': key, 'x-request-id': 'same' }),
    ),
  );
  const seen = answers.map(({ status, headers, body }) => {
    const { date: _, ...rest } = headers;
    return { status, headers: rest, body: body.toString() };
  });
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
});

test('precedes every error of the body, with id null', async () => {
  pair = closeAfterTest(await startPair());
  for (const body of ['not JSON', printCall(pair.upstream.url, { id: '"mine"' }), '[]']) {
    expectUnauthorized(await pair.proxy.post(body, { 'x-proxy-api': 'bad' }));
  }
  expectUnauthorized(await pair.proxy.post('x', { 'x-proxy-api': 'bad', 'content-type': 'text/plain' }));
});

/** Sends a call. `key` null: without a key header. */
function sendCall(key: string | null): Promise<HttpAnswer> {
  return send(`${pair.proxy.url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'x-proxy-api': key }) },
    body: printCall(pair.upstream.url),
  });
}
