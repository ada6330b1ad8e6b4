/** docs/execute.md#headers: the headers of a call and of its answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { MOMENT_MS, measureMs, pause } from '../time.ts';
import { printCall } from './expectations.ts';

let pair: Pair;
let isSlow = false;
beforeAll(async () => {
  pair = await startPair(async (socket) => {
    if (isSlow) await pause();
    answerLikeOdoo(socket, printResult('true'));
  });
});
afterAll(() => pair.close());

const post = (headers: Record<string, string> = {}, changes: Record<string, string | null> = {}) =>
  pair.proxy.post(printCall(pair.upstream.url, changes), headers);

describe('x-request-id', () => {
  test.each(['a', 'order-17_b.C', 'x'.repeat(128)])('%s is kept', async (id) => {
    expect((await post({ 'x-request-id': id })).headers['x-request-id']).toBe(id);
  });

  test.each(['', 'a b', 'x'.repeat(129), 'a"b', 'é', 'a,b', '{}'])(
    '%j is replaced by a new one',
    async (id) => {
      const first = await post({ 'x-request-id': Buffer.from(id).toString('latin1') });
      const second = await post();
      expect(first.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
    },
  );

  test('is part of every answer of every route, errors too', async () => {
    const headers = { 'x-request-id': 'mine' };
    const answers = [
      await post(headers),
      await post(headers, { action: '1' }),
      await post({ ...headers, 'x-proxy-api': 'bad' }),
      await post({ ...headers, 'content-type': 'text/plain' }),
      await send(`${pair.proxy.url}/nowhere`, { headers }),
      await send(`${pair.proxy.url}/api/erp/execute`, { headers }),
    ];
    expect(answers.map((answer) => answer.headers['x-request-id'])).toEqual(answers.map(() => 'mine'));
  });

  test('is part of the log line of the call', async () => {
    await post({ 'x-request-id': 'find-me' });
    await expect.poll(() => pair.proxy.log.some((line) => line['requestId'] === 'find-me')).toBe(true);
  });
});

describe('server-timing', () => {
  test("separates Odoo's time from the proxy's", async () => {
    let timing = '';
    isSlow = true;
    const tookMs = await measureMs(async () => {
      timing = (await post()).headers['server-timing'] as string;
    });
    isSlow = false;
    const [, upstreamMs, proxyMs] = /^upstream;dur=(\d+\.\d);desc="jsonrpc", proxy;dur=(\d+\.\d)$/.exec(
      timing,
    )!;
    expect(Number(upstreamMs)).toBeGreaterThanOrEqual(MOMENT_MS - 1);
    // No time is counted twice. Each of the two values is rounded to a tenth.
    expect(Number(upstreamMs) + Number(proxyMs)).toBeLessThan(tookMs + 0.2);
  });

  test('has no upstream if nothing was sent', async () => {
    expect((await post({}, { action: '1' })).headers['server-timing']).toMatch(/^proxy;dur=\d+\.\d$/);
  });
});

describe('the answer', () => {
  test('has the type application/json, and forbids caching and sniffing', async () => {
    for (const changes of [{}, { action: '1' }]) {
      const { headers, body } = await post({}, changes);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-length': String(body.length),
      });
    }
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'APPLICATION/JSON; Charset="utf-8"',
    'application/json; charset=utf8',
    'application/json;',
    ' application/json ',
  ])('is sent for a body of the type %j', async (contentType) => {
    expect((await post({ 'content-type': contentType })).status).toBe(200);
  });

  test('is sent for a body with the encoding identity', async () => {
    expect((await post({ 'content-encoding': 'identity' })).status).toBe(200);
  });

  test('is sent for the path with a query', async () => {
    const answer = await send(`${pair.proxy.url}/api/erp/execute?x=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-proxy-api': pair.proxy.key },
      body: printCall(pair.upstream.url),
    });
    expect(answer.status).toBe(200);
  });
});
