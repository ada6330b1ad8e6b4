/** Tests that refused keys cost little, reveal nothing, and are slowed down if they are repeated. */

import { generateKey } from '@erp-proxy/control/keys/format';
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import {
  type HttpAnswer,
  type ProxyOptions,
  type Proxy as RunningProxy,
  send,
  startProxy,
} from '../harness.ts';
import { recordTimers } from '../own-timers.ts';
import { readInFlight } from '../read-in-flight.ts';
import { expectToStay, passTurns } from '../time.ts';
import { openConnection, printPost } from './connection.ts';

let proxy: RunningProxy;
let nowMs = 0;

async function start(clocks: Pick<ProxyOptions, 'clock'> = {}): Promise<void> {
  nowMs = 0;
  const settings = { 'http.trustProxy': '127.0.0.1' };
  proxy = closeAfterTest(await startProxy({ settings, nowMs: () => nowMs, ...clocks }));
}

/** Sends a request with this key from a caller with this address. */
const ask = (key: string | null, address = '192.0.2.1') =>
  send(`${proxy.url}/api/erp/execute`, {
    method: 'POST',
    headers: {
      ...(key === null ? {} : { 'x-proxy-api': key }),
      'x-forwarded-for': address,
      'x-request-id': 'same',
    },
  });

test('never asks the store for a text that is not in the format of a key', async () => {
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
  await start({ clock: () => clock.now });
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
  // Only the operator may see the reason.
  const reasons = proxy.log.map(({ detail }) => String(detail).split(' ')[1]);
  expect(reasons).toEqual(Object.keys(kinds));
});

const FIRST_DELAY_MS = 250;
const DELAY_MS_MAX = 2000;

test('delays the sixth bad key of one address, but neither valid keys nor other addresses', async () => {
  await start();
  for (let times = 0; times < 5; times++) expect((await ask('bad')).status).toBe(401);
  // A delay ends only when the test says so.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const timesMs = recordTimers();
  try {
    const statuses: number[] = [];
    const askSlowly = async () => statuses.push((await ask('bad')).status);
    void askSlowly();
    // expect.poll is not used, because it would advance these timers.
    while (!timesMs.includes(FIRST_DELAY_MS)) await passTurns();
    vi.advanceTimersByTime(FIRST_DELAY_MS - 1);
    await expectToStay(() => statuses, []);
    vi.advanceTimersByTime(1);
    while (statuses.length < 1) await passTurns();
    for (let times = 0; times < 3; times++) void askSlowly();
    expect((await ask(proxy.key)).status).toBe(415);
    expect((await ask('bad', '192.0.2.2')).status).toBe(401);
    expect(statuses).toEqual([401]);
    for (; statuses.length < 4; await passTurns()) vi.advanceTimersByTime(DELAY_MS_MAX);
    expect(statuses).toEqual([401, 401, 401, 401]);
  } finally {
    vi.useRealTimers();
  }
});

test('does not delay bad keys after some time without any', async () => {
  await start();
  for (let times = 0; times < 6; times++) await ask('bad');
  nowMs += 10 * 60_000;
  // With fake timers, a delay would not end.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    expect((await ask('bad')).status).toBe(401);
  } finally {
    vi.useRealTimers();
  }
});

test('ends the delay of a caller that has left', async () => {
  await start();
  const line = ['x-proxy-api: bad', 'x-forwarded-for: 192.0.2.1', 'content-length: 0'];
  const waiting = Array.from({ length: 40 }, () => openConnection(proxy.url, printPost(line)));
  await expect.poll(() => readInFlight(proxy.url)).toBeGreaterThanOrEqual(20);
  for (const { socket } of waiting) socket.destroy();
  await expect.poll(() => readInFlight(proxy.url)).toBe(0);
});

test('counts refused requests in the metrics', async () => {
  await start();
  await ask('bad');
  expect((await send(`${proxy.url}/metrics`)).body.toString()).toContain(
    'erp_proxy_refused_requests_total{outcome="unauthorized"} 1',
  );
});
