/** Issue promise: refused keys cost next to nothing, tell nothing, and are slowed where they come again and again. */
import { afterEach, expect, test, vi } from 'vitest';
import { generateKey } from '../../src/keys/format.ts';
import { expectWithin } from '../expect-within.ts';
import { type HttpAnswer, type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import { readInFlight } from '../read-in-flight.ts';
import { openConnection, printPost } from './connection.ts';

let proxy: RunningProxy;
let nowMs = 0;
afterEach(() => proxy.close());

const start = async () => {
  nowMs = 0;
  proxy = await startProxy({ settings: { 'http.trustProxy': '127.0.0.1' }, nowMs: () => nowMs });
};

/** With `address`, as a caller from there. */
const ask = (key: string | null, address = '192.0.2.1') =>
  send(`${proxy.url}/api/erp/execute`, {
    method: 'POST',
    headers: {
      ...(key === null ? {} : { 'x-proxy-api': key }),
      'x-forwarded-for': address,
      'x-request-id': 'same',
    },
  });

test('never asks the store for what is no key', async () => {
  await start();
  const lookups = vi.spyOn(proxy.app.store.keys, 'findById');
  const { key } = proxy;
  const typo = `${key.slice(0, 20)}${key[20] === 'a' ? 'b' : 'a'}${key.slice(21)}`;
  for (const [index, bad] of [
    null,
    '',
    'x',
    'ep_',
    typo,
    `${key} `.repeat(2),
    `${key}x`,
    'x'.repeat(8000),
  ].entries()) {
    expect((await ask(bad, `192.0.2.${index}`)).status).toBe(401);
  }
  expect(lookups).not.toHaveBeenCalled();
  await ask(generateKey().text);
  expect(lookups).toHaveBeenCalledTimes(1);
});

test('answers missing, malformed, unknown, expired and revoked keys with the same bytes', async () => {
  const clock = { now: Date.parse('2026-01-01') };
  proxy = await startProxy({ settings: { 'http.trustProxy': '127.0.0.1' }, clock: () => clock.now });
  const expiring = await proxy.app.keys.create({ name: 'expiring', expiresAt: clock.now + 1000 });
  const revoked = await proxy.app.keys.create({ name: 'revoked' });
  await proxy.app.keys.revoke(revoked.record.id);
  clock.now += 2000;
  const stranger = generateKey();
  const kinds = {
    missing: null,
    malformed: 'x',
    unknown: stranger.text,
    expired: expiring.key,
    revoked: revoked.key,
  };
  const answers: HttpAnswer[] = [];
  for (const [index, key] of Object.values(kinds).entries()) answers.push(await ask(key, `192.0.2.${index}`));
  const [first] = answers;
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.body.toString()).toBe(first?.body.toString());
    expect({ ...answer.headers, date: '' }).toEqual({ ...first?.headers, date: '' });
  }
  // Why, the operator alone may see.
  const reasons = proxy.log.map(({ detail }) => String(detail).split(' ')[1]);
  expect(reasons).toEqual(Object.keys(kinds));
});

test('slows the sixth bad key of one address, and neither a good key nor another address', async () => {
  await start();
  for (let times = 0; times < 5; times++) expect((await ask('bad')).status).toBe(401);
  const before = performance.now();
  expect((await ask('bad')).status).toBe(401);
  expect(performance.now() - before).toBeGreaterThan(240);
  // Those that follow wait for up to two seconds: a busy machine has the others answered by then.
  let areSlowAnswered = false;
  const slow = Promise.all(Array.from({ length: 3 }, () => ask('bad'))).then((answers) => {
    areSlowAnswered = true;
    return answers;
  });
  expect((await ask(proxy.key)).status).toBe(415);
  expect((await ask('bad', '192.0.2.2')).status).toBe(401);
  expect(areSlowAnswered).toBe(false);
  expect((await slow).map(({ status }) => status)).toEqual([401, 401, 401]);
});

test('forgives with time', async () => {
  await start();
  for (let times = 0; times < 6; times++) await ask('bad');
  await expectWithin(240, () => {
    nowMs += 10 * 60_000;
    return ask('bad');
  });
});

test('does not hold on to a caller that left while it was made to wait', async () => {
  await start();
  const line = ['x-proxy-api: bad', 'x-forwarded-for: 192.0.2.1', 'content-length: 0'];
  const waiting = Array.from({ length: 40 }, () => openConnection(proxy.url, printPost(line)));
  await expect.poll(() => readInFlight(proxy.url)).toBeGreaterThanOrEqual(20);
  for (const { socket } of waiting) socket.destroy();
  await expect.poll(() => readInFlight(proxy.url)).toBe(0);
});

test('calls that are refused count in the metrics', async () => {
  await start();
  await ask('bad');
  expect((await send(`${proxy.url}/metrics`)).body.toString()).toContain(
    'erp_proxy_refused_requests_total{outcome="unauthorized"} 1',
  );
});
