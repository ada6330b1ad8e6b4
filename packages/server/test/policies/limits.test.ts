/** Tests the limits of a key's policy: rate, calls a day and concurrency. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Policy } from '@erp-proxy/contract';
import { afterEach, expect, test } from 'vitest';
import { expectError, printCall, printInstance } from '../execute/expectations.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerTrue, type Script } from '../scripted-upstream.ts';
import { pause } from '../time.ts';

let pair: Pair;
afterEach(() => pair.close());

async function makeKey(limits: Partial<Policy>): Promise<Record<string, string>> {
  const policy = { origins: [pair.upstream.url], models: { '*': ['*'] }, ...limits };
  const { key } = await pair.proxy.app.keys.create({ name: 'limited', policy });
  return { 'x-proxy-api': key };
}

const printOne = (params = '[[1]]') =>
  printCall('', { params, erp_instance: printInstance(pair.upstream.url) });

test('admits the burst of a rate and reports the rest, then returns 429 with the time to wait', async () => {
  let nowMs = 1_000_000;
  pair = await startPair(answerTrue, { nowMs: () => nowMs });
  const headers = await makeKey({ rate: { requests: 2, seconds: 60 } });
  for (const left of [1, 0]) {
    const answer = await pair.proxy.call(printOne(), headers);
    expect(answer.status).toBe(200);
    expect(answer.headers['ratelimit-policy']).toBe('"key";q=2;w=60');
    expect(answer.headers['ratelimit']).toBe(`"key";r=${left};t=${60 - left * 30}`);
  }
  const refused = await pair.proxy.post('this is not even JSON', headers);
  expectError(refused, {
    status: 429,
    code: -32012,
    type: 'rate_limited',
    retryable: true,
    rule: 'rate',
    says: /in 30 s/,
  });
  expect(refused.headers['retry-after']).toBe('30');
  expect(refused.headers['ratelimit']).toBe('"key";r=0;t=60');
  expect(pair.upstream.requests).toHaveLength(2);
  nowMs += 30_000;
  expect((await pair.proxy.call(printOne(), headers)).status).toBe(200);
});

test('counts each call of a batch, and admits all of them or none', async () => {
  pair = await startPair(answerTrue, { nowMs: () => 0 });
  const headers = await makeKey({ rate: { requests: 3, seconds: 60 } });
  const batch = (calls: number) => `[${Array.from({ length: calls }, printOne).join(',')}]`;
  expectError(await pair.proxy.post(batch(4), headers), {
    status: 403,
    code: -32010,
    type: 'policy_denied',
    rule: 'rate',
    says: /more than the key may ever make at once/,
  });
  expect(pair.upstream.requests).toHaveLength(0);
  // The refused batch counted as one call.
  expect((await pair.proxy.post(batch(2), headers)).status).toBe(200);
  expect((await pair.proxy.post(printOne(), headers)).status).toBe(429);
});

test('counts calls per day on after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-day-'));
  const start = () => startPair(answerTrue, { settings: { 'store.url': `sqlite:${directory}/store.db` } });
  try {
    pair = await start();
    const headers = await makeKey({ origins: ['*'], per_day: 1 });
    expect((await pair.proxy.call(printOne(), headers)).status).toBe(200);
    await pair.close();
    pair = await start();
    expect((await pair.proxy.call(printOne(), headers)).status).toBe(429);
  } finally {
    await pair.close();
    rmSync(directory, { recursive: true });
  }
});

test('refuses calls beyond those of a month until its end, also after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-month-'));
  let now = Date.UTC(2026, 10, 30, 12);
  const start = () =>
    startPair(answerTrue, { clock: () => now, settings: { 'store.url': `sqlite:${directory}/store.db` } });
  try {
    pair = await start();
    const headers = await makeKey({ origins: ['*'], per_month: 3, per_day: 100 });
    for (const left of [2, 1]) {
      const answer = await pair.proxy.call(printOne(), headers);
      expect(answer.headers['ratelimit-policy']).toBe('"day";q=100;w=86400, "month";q=3;w=2592000');
      expect(answer.headers['ratelimit']).toContain(`"month";r=${left};t=43200`);
    }
    await pair.close();
    pair = await start();
    const batch = `[${printOne()},${printOne()}]`;
    const { status } = await pair.proxy.post(batch, headers);
    // The refused batch counted as one call, the last one of the month.
    expect(status).toBe(429);
    const refused = await pair.proxy.post(printOne(), headers);
    expectError(refused, {
      status: 429,
      code: -32012,
      type: 'rate_limited',
      retryable: true,
      rule: 'per_month',
      says: /in 43200 s/,
    });
    expect(refused.headers['retry-after']).toBe('43200');
    expect(refused.headers['ratelimit']).toBe('"month";r=0;t=43200');
    expect(pair.upstream.requests).toHaveLength(0);
    now = Date.UTC(2026, 11, 1);
    const answer = await pair.proxy.call(printOne(), headers);
    expect(answer.status).toBe(200);
    expect(answer.headers['ratelimit-policy']).toContain('"month";q=3;w=2678400');
  } finally {
    await pair.close();
    rmSync(directory, { recursive: true });
  }
});

test('counts the calls of a rotated key and of its successor together', async () => {
  pair = await startPair(answerTrue, { nowMs: () => 0 });
  const { keys } = pair.proxy.app;
  const policy = { origins: ['*'], models: { '*': ['*'] }, per_day: 3 };
  const old = await keys.create({ name: 'limited', policy });
  const fresh = await keys.rotate(old.record.id, { overlapMs: 60_000 });
  if (typeof fresh === 'string' || !('key' in fresh)) throw new Error('not rotated');
  const left: unknown[] = [];
  for (const { key } of [old, fresh, old, fresh]) {
    const { status, headers } = await pair.proxy.call(printOne(), { 'x-proxy-api': key });
    left.push([status, /r=(\d+)/.exec(String(headers['ratelimit']))?.[1]]);
  }
  expect(left).toEqual([
    [200, '2'],
    [200, '1'],
    [200, '0'],
    [429, '0'],
  ]);
});

test("runs a key's calls up to its concurrency, and refuses the next", async () => {
  const held = Promise.withResolvers<void>();
  let seen = 0;
  // Otherwise, the second call would wait until the first one has verified the credentials.
  const settings = { 'upstream.refusedCredentialsTtlMs': '0' };
  const script: Script = async (...exchange) => {
    seen++;
    await held.promise;
    return answerTrue(...exchange);
  };
  pair = await startPair(script, { settings });
  const headers = await makeKey({ concurrency: 2 });
  const running = ['[[1]]', '[[2]]'].map((params) => pair.proxy.post(printOne(params), headers));
  await expect.poll(() => seen).toBe(2);
  const refused = await pair.proxy.post(printOne(), headers);
  expectError(refused, {
    status: 429,
    code: -32012,
    type: 'rate_limited',
    retryable: true,
    rule: 'concurrency',
    says: /as many calls running/,
  });
  expect(refused.headers['retry-after']).toBe('1');
  // Another key has its own limit.
  const other = pair.proxy.post(printOne('[[3]]'));
  await expect.poll(() => seen).toBe(3);
  held.resolve();
  for (const answer of [...running, other]) expect((await answer).status).toBe(200);
  expect((await pair.proxy.post(printOne(), headers)).status).toBe(200);
});

test('runs the calls of a batch within the concurrency of its key', async () => {
  let [running, most] = [0, 0];
  let both = Promise.withResolvers<void>();
  pair = await startPair(async (...exchange) => {
    if (exchange[1].body.includes('"first"')) return answerTrue(...exchange);
    most = Math.max(most, ++running);
    if (running === 2) {
      // If a third call could run, it would begin during this pause.
      await pause();
      both.resolve();
      both = Promise.withResolvers();
    } else await both.promise;
    running--;
    return answerTrue(...exchange);
  });
  const headers = await makeKey({ concurrency: 2 });
  // The answer verifies the credentials, so that later calls are sent concurrently.
  expect((await pair.proxy.post(printOne('[["first"]]'))).status).toBe(200);
  const answer = await pair.proxy.post(`[${Array.from({ length: 8 }, printOne).join(',')}]`, headers);
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body.toString())).toHaveLength(8);
  expect(most).toBe(2);
  expect((await pair.proxy.post(printOne('[["first"]]'), headers)).status).toBe(200);
});

test('answers for a key without limits have no limit headers', async () => {
  pair = await startPair();
  const answer = await pair.proxy.post(printOne());
  expect(answer.headers).not.toHaveProperty('ratelimit');
  expect(answer.headers).not.toHaveProperty('ratelimit-policy');
});

test('does not count requests from addresses that may not use the key', async () => {
  pair = await startPair(answerTrue, { nowMs: () => 0, settings: { 'http.trustProxy': '127.0.0.1' } });
  const headers = await makeKey({ rate: { requests: 2, seconds: 3600 }, cidrs: ['203.0.113.0/24'] });
  const from = (address: string, more: Record<string, string> = {}) =>
    pair.proxy.call(printOne(), { ...headers, 'x-forwarded-for': address, ...more });
  for (let attempt = 0; attempt < 5; attempt++) {
    const stranger = await from('198.51.100.1');
    expect(stranger.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'cidrs' });
    expect(stranger.headers).not.toHaveProperty('ratelimit');
    const page = await from('203.0.113.1', { origin: 'https://evil.example.net' });
    expect(page.json.error.data.rule).toBe('cors_origins');
  }
  for (const status of [200, 200, 429]) expect((await from('203.0.113.1')).status).toBe(status);
});
