/** Issue promise: only a read is tried once more, and only where no answer had begun. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, printResult, type Script } from '../scripted-upstream.ts';
import { printCall, waitFor } from './expectations.ts';

let pair: Pair;
afterEach(() => pair.close());

/** Resets the first `count` connections after their request, and answers from then on. */
const resetFirst =
  (count: number): Script =>
  (socket, _request, index) => {
    if (index < count) socket.resetAndDestroy();
    else answerLikeOdoo(socket, printResult('true'));
  };

const call = (changes: Record<string, string | null>) =>
  pair.proxy.call(printCall(pair.upstream.url, changes));

const readLogLine = () => waitFor(() => pair.proxy.log.find((line) => line['msg'] === 'call'));

describe.each([
  [{ action: '"read"' }],
  [{ action: '"search_read"', params: '[[]]' }],
  [{ action: '"fields_get"', params: '[]' }],
  [{ action: '"call_method"', fn_name: '"search_count"', params: '[[]]' }],
])('a read: %j', (changes) => {
  it('is sent a second time, and only a second', async () => {
    pair = await startPair(resetFirst(1));
    expect((await call(changes)).json.result).toBe(true);
    expect(pair.upstream.connections()).toBe(2);
    const [first, second] = pair.upstream.requests;
    expect(second).toEqual(first);
    expect(await readLogLine()).toMatchObject({ outcome: 'ok', attempts: 2 });
  });
});

it('gives up after the second try, and says so in log and metrics', async () => {
  pair = await startPair(resetFirst(9));
  expect((await call({})).status).toBe(502);
  expect(pair.upstream.connections()).toBe(2);
  expect(await readLogLine()).toMatchObject({ outcome: 'upstream_unreachable', attempts: 2 });
  const metrics = await (await fetch(`${pair.proxy.url}/metrics`)).text();
  expect(metrics).toMatch(/^erp_proxy_retries_total 1$/m);
});

describe.each([
  'write',
  'unlink',
  'create',
  'copy',
  'action_confirm',
  'message_post',
  'default_get',
  'my_read',
  'export_data',
])('%s', (action) => {
  it('is never sent twice', async () => {
    pair = await startPair(resetFirst(1));
    const { json } = await call({ action: `"${action}"` });
    expect(json.error.data).toEqual({ type: 'upstream_unreachable', retryable: false, outcome: 'unknown' });
    expect(pair.upstream.connections()).toBe(1);
    expect(await readLogLine()).toMatchObject({ attempts: 1 });
  });
});

it.each<[string, Script]>([
  [
    'a head was there',
    (socket) => {
      socket.write('HTTP/1.0 200 OK\r\nContent-Length: 90\r\n\r\n{"jsonrpc"');
      setTimeout(() => socket.resetAndDestroy(), 10);
    },
  ],
  ['the answer is an error', (socket) => answerLikeOdoo(socket, 'x', '500 Internal Server Error')],
  ['the server is overloaded', (socket) => answerLikeOdoo(socket, 'x', '503 Service Unavailable')],
  ['a reverse proxy says 502', (socket) => answerLikeOdoo(socket, 'x', '502 Bad Gateway')],
  ['the answer is no HTTP', (socket) => socket.end('hello\r\n\r\n')],
])('does not send a read again where %s', async (_name, script) => {
  pair = await startPair(script);
  expect((await call({})).status).toBeGreaterThanOrEqual(502);
  expect(pair.upstream.connections()).toBe(1);
});

it('does not send a read again once its time is over', async () => {
  pair = await startPair(() => {}, { settings: { 'upstream.timeoutMs': '500' } });
  expect((await call({})).status).toBe(504);
  expect(pair.upstream.connections()).toBe(1);
});

it('retries on a connection that the server had kept open, and dropped meanwhile', async () => {
  pair = await startPair((socket, _request, index) => {
    const body = printResult('true');
    if (index === 1) socket.resetAndDestroy();
    else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  expect((await call({})).json.result).toBe(true);
  expect((await call({})).json.result).toBe(true);
  expect(pair.upstream.requests).toHaveLength(3);
});
