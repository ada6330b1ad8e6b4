/** Tests that each call has one log line, without values, keys or tracebacks. */
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { printCall, printInstance, UPSTREAM_KEY, waitFor } from './expectations.ts';

let pair: Pair;

const SECRETS = /do-not-log|upstream-key/;
const secretCall = (changes: Record<string, string | null> = {}) =>
  printCall(pair.upstream.url, {
    action: '"write"',
    params: '[[1],{"name":"do-not-log-value","x_do-not-log-field":1}]',
    keyword: '{"context":{"note":"do-not-log-context"},"limit":1}',
    ...changes,
  });

const waitForLines = (count: number) => waitFor(() => pair.proxy.log.length >= count && pair.proxy.log);

test('is one line for each call, with what an operator needs', async () => {
  pair = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, printResult('"do-not-log-result"'))),
  );
  const { proxy, upstream } = pair;
  await proxy.post(secretCall({ id: '"order-7"' }), { 'x-request-id': 'req-1' });
  expect(await waitForLines(1)).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      requestId: 'req-1',
      keyId: proxy.key.split('_')[1],
      clientId: proxy.key.split('_')[1],
      address: '127.0.0.1',
      batchIndex: null,
      id: '"order-7"',
      instance: null,
      upstream: upstream.url,
      db: 'prod',
      model: 'res.partner',
      method: 'write',
      outcome: 'ok',
      code: null,
      rule: null,
      approval: null,
      via: null,
      httpStatus: 200,
      protocol: 'jsonrpc',
      upstreamStatus: 200,
      attempts: 1,
      sharedFrom: null,
      totalMs: expect.any(Number),
      upstreamMs: expect.any(Number),
      detail: null,
      msg: 'call',
    },
  ]);
});

test('is one line for each call of a batch', async () => {
  pair = closeAfterTest(await startPair());
  await pair.proxy.post(`[${[0, 1, 2].map((id) => secretCall({ id: String(id) })).join(',')},7]`);
  const lines = await waitForLines(4);
  expect(lines.map((line) => line['batchIndex']).sort()).toEqual([0, 1, 2, 3]);
  expect(new Set(lines.map((line) => line['requestId'])).size).toBe(1);
});

describe('has no secrets and no values', () => {
  test.each<[string, Record<string, string | null> | string]>([
    ['a good call', {}],
    ['broken JSON', '{"params":"do-not-log",}'],
    ['a wrong type', { params: '"do-not-log"' }],
    ['a bad limit', { keyword: '{"limit":"do-not-log"}' }],
    ['a bad time zone', { keyword: '{"context":{"tz":"do-not-log"}}' }],
    ['credentials in the url', { erp_instance: printInstance('https://u:do-not-log@erp.example.com') }],
    ['a refused address', { erp_instance: printInstance('https://10.0.0.1') }],
  ])('for %s', async (_name, changes) => {
    pair = closeAfterTest(await startPair());
    await pair.proxy.post(typeof changes === 'string' ? changes : secretCall(changes));
    const text = JSON.stringify(await waitForLines(1));
    expect(text).not.toMatch(SECRETS);
    expect(text).not.toContain(pair.proxy.key);
    expect(pair.proxy.log).toHaveLength(1);
  });

  test.each([
    ['a page', '<h1>do-not-log</h1>'],
    ['broken JSON', '{"jsonrpc": "2.0", "id": 1, "result": "do-not-log'],
    [
      'a fault that repeats the call',
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: 200,
          message: 'Odoo Server Error',
          data: {
            name: 'builtins.ValueError',
            message: `do-not-log ${UPSTREAM_KEY}`,
            debug: `Traceback (most recent call last): do-not-log ${UPSTREAM_KEY}`,
            arguments: ['do-not-log'],
            context: {},
          },
        },
      }),
    ],
  ])('if the answer is %s', async (_name, body) => {
    pair = closeAfterTest(await startPair((socket) => answerLikeOdoo(socket, body)));
    await pair.proxy.post(secretCall());
    expect(JSON.stringify(await waitForLines(1))).not.toMatch(SECRETS);
    expect(pair.proxy.log).toHaveLength(1);
  });

  test('for a refused key, of which only the id is logged', async () => {
    pair = closeAfterTest(await startPair());
    const {
      key,
      record: { id },
    } = await pair.proxy.app.keys.create({ name: 'gone' });
    await pair.proxy.app.keys.revoke(id);
    await pair.proxy.post(secretCall(), { 'x-proxy-api': key });
    await pair.proxy.post(secretCall(), { 'x-proxy-api': 'do-not-log' });
    const lines = await waitForLines(2);
    expect(lines).toMatchObject([
      { msg: 'refused', outcome: 'unauthorized', detail: `key revoked (${id})` },
      { msg: 'refused', outcome: 'unauthorized', detail: 'key malformed' },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(SECRETS);
    expect(JSON.stringify(lines)).not.toContain(key);
  });
});

test('has the cause if the time of a call ends while a short answer arrives', async () => {
  pair = closeAfterTest(
    await startPair((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"json');
    }),
  );
  await pair.proxy.post(secretCall(), { 'x-request-timeout': '1' });
  const [line] = await waitForLines(1);
  expect(line).toMatchObject({ outcome: 'upstream_timeout', detail: expect.stringMatching(/\w/) });
});

test('warns only about problems that an operator can fix', async () => {
  pair = closeAfterTest(
    await startPair((socket, _request, index) => {
      if (index === 0) socket.resetAndDestroy();
      else answerLikeOdoo(socket, printResult('true'));
    }),
  );
  await pair.proxy.post(secretCall());
  await pair.proxy.post(secretCall());
  await pair.proxy.post(secretCall({ action: '"_x"' }));
  const lines = await waitForLines(3);
  expect(lines.map(({ outcome, level }) => [outcome, level])).toEqual([
    ['upstream_unreachable', 'warn'],
    ['ok', 'info'],
    ['action_invalid', 'info'],
  ]);
  expect(lines[0]?.['detail']).toEqual(expect.any(String));
});

test('says that the caller disconnected, and does not blame Odoo', async () => {
  pair = closeAfterTest(await startPair(() => {}));
  const controller = new AbortController();
  const request = fetch(`${pair.proxy.url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-proxy-api': pair.proxy.key },
    body: secretCall(),
    signal: controller.signal,
  });
  request.catch(() => {});
  await waitFor(() => pair.upstream.requests.length === 1);
  controller.abort();
  await expect(request).rejects.toThrow();
  expect(await waitForLines(1)).toMatchObject([
    { msg: 'call', outcome: 'caller_left', code: null, level: 'info' },
  ]);
  expect(pair.proxy.log).toHaveLength(1);
});
