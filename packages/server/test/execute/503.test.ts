/** HTTP 503: the proxy is shutting down, or the server is overloaded. `retry-after` says when to try again. */
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, makeCall } from '../scripted-upstream.ts';
import { expectError, printCall, waitFor } from './expectations.ts';

let pair: Pair;

test('overloaded: the store does not answer, and the key is not in memory yet', async () => {
  pair = closeAfterTest(await startPair());
  const { proxy } = pair;
  const known = await proxy.app.keys.create({ name: 'known' });
  expect((await proxy.post('{}', { 'x-proxy-api': known.key })).status).toBe(400);
  const { findById } = proxy.app.store.keys;
  proxy.app.store.keys.findById = () => Promise.reject(new Error('no route to 10.9.8.7'));
  const answer = await proxy.post('{}');
  proxy.app.store.keys.findById = findById;
  expectError(answer, {
    status: 503,
    code: -32013,
    type: 'overloaded',
    retryable: true,
    outcome: 'not_sent',
    says: /store does not answer/,
  });
  expect(answer.headers['retry-after']).toBe('5');
  expect(proxy.log.find(({ outcome }) => outcome === 'overloaded')).toMatchObject({
    detail: 'store: no route to 10.9.8.7',
  });
  // A key that is in memory is still accepted.
  expect((await proxy.post('{}', { 'x-proxy-api': known.key })).status).toBe(400);
});

const overloaded = { status: 503, code: -32013, type: 'overloaded', id: 1 } as const;

const NOT_RUN = { retryable: true, outcome: 'not_sent', says: /server is overloaded.*not run/ } as const;
/** Some proxies (Envoy) answer 503 also if a connection broke after the request was sent. */
const MAY_HAVE_RUN = {
  retryable: false,
  outcome: 'unknown',
  says: /server is overloaded.*may have run/,
} as const;
const MAY_BE_READ_AGAIN = {
  retryable: true,
  outcome: 'unknown',
  says: /server is overloaded.*sent again/,
} as const;

describe.each([
  { status: '429 Too Many Requests', read: NOT_RUN, write: NOT_RUN },
  { status: '503 Service Unavailable', read: MAY_BE_READ_AGAIN, write: MAY_HAVE_RUN },
])('overloaded: $status from the server', ({ status, ...expectations }) => {
  const answerWith = async (header: string) =>
    closeAfterTest(
      await startPair(
        (socket) => {
          socket.end(`HTTP/1.0 ${status}\r\n${header}Content-Length: 2\r\n\r\nno`);
        },
        { settings: { 'upstream.retries': '0' } },
      ),
    );

  test.each([
    ['Retry-After: 7\r\n', '7'],
    ['Date: Sun, 06 Nov 2033 08:49:07 GMT\r\nRetry-After: Sun, 06 Nov 2033 08:49:37 GMT\r\n', '30'],
    ['Retry-After: Sun, 06 Nov 2033 08:49:37 GMT\r\n', '60'],
    ['Retry-After: whenever\r\n', '1'],
    ['Retry-After: -5\r\n', '1'],
    ['', '1'],
  ])('with %j sends retry-after %s', async (header, expected) => {
    pair = await answerWith(header);
    for (const action of ['read', 'write'] as const) {
      const answer = await pair.proxy.post(makeCall(pair.upstream.url, { action }));
      expectError(answer, {
        ...overloaded,
        ...expectations[action],
      });
      expect(answer.headers['retry-after']).toBe(expected);
    }
    expect(pair.upstream.requests).toHaveLength(2);
  });
});

test('overloaded: 503 in the envelope of Odoo', async () => {
  const data = {
    name: 'werkzeug.exceptions.TooManyRequests',
    message: '429',
    arguments: [],
    context: {},
    debug: '',
  };
  const error = { code: 200, message: 'x', data };
  pair = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error }))),
  );
  const answer = await pair.proxy.post(printCall(pair.upstream.url));
  expectError(answer, { ...overloaded, retryable: true, outcome: 'not_sent', says: /overloaded/ });
  expect(answer.headers['retry-after']).toBe('1');
});

test('overloaded: the proxy is shutting down', async () => {
  pair = closeAfterTest(await startPair(() => {}, { settings: { 'http.shutdownGraceMs': '800' } }));
  const { proxy, upstream } = pair;
  const running = proxy.post(printCall(upstream.url, { action: '"write"' }));
  await waitFor(() => upstream.requests.length === 1);
  const stopped = proxy.app.stop();
  const refused = await proxy.post(printCall(upstream.url));
  expectError(refused, {
    ...overloaded,
    id: null,
    retryable: true,
    outcome: 'not_sent',
    says: /shutting down/,
  });
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.headers.connection).toBe('close');
  const cut = await running;
  expectError(cut, { ...overloaded, outcome: 'unknown', says: /shutting down.*may have run/ });
  expect(cut.headers['retry-after']).toBe('1');
  await stopped;
  pair = { ...pair, close: () => upstream.close() };
});
