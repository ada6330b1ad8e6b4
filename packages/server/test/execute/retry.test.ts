/**
 * Tests retries: reads are sent again after a lost connection and after 502, 503 and 504 of a reverse proxy; any call
 * after a rolled-back serialization failure; a write with unknown outcome never. Retries stay within the time limit of
 * the call and within a budget.
 */

import { RETRIES_FLOOR } from '@erp-proxy/traffic/testing';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import {
  answerLikeOdoo,
  answerTrue,
  printResult,
  resetAfterReading,
  type Script,
} from '../scripted-upstream.ts';
import { measureMs } from '../time.ts';
import { printCall, printInstance, waitFor } from './expectations.ts';

let pair: Pair;

/** Resets the first `count` connections after their request, and answers the later ones. */
const resetFirst =
  (count: number): Script =>
  (socket, _request, index) => {
    if (index < count) socket.resetAndDestroy();
    else answerLikeOdoo(socket, printResult('true'));
  };

/** Answers the first `count` calls with `first`, and the later ones normally. */
const answerAfter =
  (count: number, first: Script): Script =>
  (socket, request, index) =>
    index < count ? first(socket, request, index) : answerTrue(socket, request, index);

const answerStatus =
  (status: string, header = ''): Script =>
  (socket) => {
    socket.end(`HTTP/1.0 ${status}\r\n${header}Content-Length: 2\r\n\r\nno`);
  };

/** Odoo's answer after it has used up its own retries. */
const answerFault =
  (name: string, message = 'could not serialize access due to concurrent update'): Script =>
  (socket) => {
    const data = { name, message, arguments: [message], context: {}, debug: '' };
    const error = { code: 200, message: 'Odoo Server Error', data };
    answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error }));
  };
const answerConflict = answerFault('psycopg2.errors.SerializationFailure');

const call = (changes: Record<string, string | null>, headers?: Record<string, string>) =>
  pair.proxy.call(printCall(pair.upstream.url, changes), headers);

const WRITE = { action: '"write"', params: '[[1],{}]' };

const readMetrics = async () => (await fetch(`${pair.proxy.url}/metrics`)).text();

const readLogLine = () => waitFor(() => pair.proxy.log.find((line) => line['msg'] === 'call'));

describe.each([
  [{ action: '"read"' }],
  [{ action: '"search_read"', params: '[[]]' }],
  [{ action: '"fields_get"', params: '[]' }],
  [{ action: '"call_method"', fn_name: '"search_count"', params: '[[]]' }],
])('a read: %j', (changes) => {
  test('is sent a second time, unchanged', async () => {
    pair = closeAfterTest(await startPair(resetFirst(1)));
    expect((await call(changes)).json.result).toBe(true);
    expect(pair.upstream.connections()).toBe(2);
    const [first, second] = pair.upstream.requests;
    expect(second).toEqual(first);
    expect(await readLogLine()).toMatchObject({ outcome: 'ok', attempts: 2 });
  });
});

test('gives up after the third attempt, as shown in log and metrics', async () => {
  pair = closeAfterTest(await startPair(resetFirst(9)));
  expect((await call({})).status).toBe(502);
  expect(pair.upstream.connections()).toBe(3);
  expect(await readLogLine()).toMatchObject({ outcome: 'upstream_unreachable', attempts: 3 });
  expect(await readMetrics()).toMatch(/^erp_proxy_retries_total\{reason="connection"\} 2$/m);
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
  test('is never sent twice', async () => {
    pair = closeAfterTest(await startPair(resetFirst(1)));
    const { json } = await call({ action: `"${action}"` });
    expect(json.error.data).toEqual({ type: 'upstream_unreachable', retryable: false, outcome: 'unknown' });
    expect(pair.upstream.connections()).toBe(1);
    expect(await readLogLine()).toMatchObject({ attempts: 1 });
  });
});

test.each<[string, Script]>([
  [
    'the connection breaks after the head of the answer',
    (socket) => {
      socket.write('HTTP/1.0 200 OK\r\nContent-Length: 90\r\n\r\n{"jsonrpc"');
      return resetAfterReading(socket);
    },
  ],
  ['the answer is an error', (socket) => answerLikeOdoo(socket, 'x', '500 Internal Server Error')],
  ['it asks for a wait of three seconds', answerStatus('503 Service Unavailable', 'Retry-After: 3\r\n')],
  [
    'it asks for a wait until a date',
    answerStatus('503 Service Unavailable', 'Retry-After: Sun, 06 Nov 2033 08:49:37 GMT\r\n'),
  ],
  ['it answers 429', answerStatus('429 Too Many Requests', 'Retry-After: 1\r\n')],
  ['the answer is not HTTP', (socket) => socket.end('hello\r\n\r\n')],
])('does not repeat a read if %s', async (_name, script) => {
  pair = closeAfterTest(await startPair(script));
  expect((await call({})).status).toBeGreaterThanOrEqual(502);
  expect(pair.upstream.connections()).toBe(1);
});

test('does not repeat a read after its time limit has passed', async () => {
  pair = closeAfterTest(await startPair(() => {}, { settings: { 'upstream.timeoutMs': '500' } }));
  expect((await call({})).status).toBe(504);
  expect(pair.upstream.connections()).toBe(1);
});

test('retries if the server dropped a connection that it had kept open', async () => {
  pair = closeAfterTest(
    await startPair((socket, _request, index) => {
      const body = printResult('true');
      if (index === 1) socket.resetAndDestroy();
      else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    }),
  );
  expect((await call({})).json.result).toBe(true);
  expect((await call({})).json.result).toBe(true);
  expect(pair.upstream.requests).toHaveLength(3);
});

test.each(['502 Bad Gateway', '503 Service Unavailable', '504 Gateway Time-out'])(
  'repeats a read after %s from a reverse proxy, and no write',
  async (status) => {
    pair = closeAfterTest(await startPair(answerAfter(2, answerStatus(status))));
    expect((await call({})).json.result).toBe(true);
    expect(await readLogLine()).toMatchObject({ outcome: 'ok', attempts: 3, upstreamStatus: 200 });
    expect(await readMetrics()).toMatch(/^erp_proxy_retries_total\{reason="gateway"\} 2$/m);
    await pair.close();
    pair = closeAfterTest(await startPair(answerAfter(1, answerStatus(status))));
    expect((await call(WRITE)).json.error.data.type).toMatch(/^(upstream_|overloaded)/);
    expect(pair.upstream.requests).toHaveLength(1);
  },
);

describe('a call that Odoo rolled back because of another transaction', () => {
  test.each(['write', 'create', 'action_confirm', 'read'])('is sent again: %s', async (action) => {
    pair = closeAfterTest(await startPair(answerAfter(1, answerConflict)));
    expect((await call({ action: `"${action}"`, params: '[[1]]' })).json.result).toBe(true);
    const [first, second] = pair.upstream.requests;
    expect(second).toEqual(first);
    expect(await readLogLine()).toMatchObject({ outcome: 'ok', attempts: 2 });
    expect(await readMetrics()).toMatch(/^erp_proxy_retries_total\{reason="conflict"\} 1$/m);
  });

  test('is not sent again after an attempt that may have run', async () => {
    pair = closeAfterTest(
      await startPair((socket, request, index) =>
        index === 0 ? answerConflict(socket, request, index) : void socket.resetAndDestroy(),
      ),
    );
    expect((await call(WRITE)).json.error.data).toMatchObject({ outcome: 'unknown', retryable: false });
    expect(pair.upstream.requests).toHaveLength(2);
  });

  test('counts as one call for its idempotency key', async () => {
    pair = closeAfterTest(await startPair(answerAfter(1, answerConflict)));
    const key = { 'idempotency-key': 'order 17' };
    expect((await call(WRITE, key)).json.result).toBe(true);
    const again = await call(WRITE, key);
    expect(again.json.result).toBe(true);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(pair.upstream.requests).toHaveLength(2);
  });
});

test.each([
  'odoo.exceptions.UserError',
  'odoo.exceptions.ValidationError',
  'odoo.exceptions.LockError',
  'psycopg2.errors.UniqueViolation',
  'builtins.ValueError',
])('does not repeat a call that Odoo refused with %s', async (name) => {
  pair = closeAfterTest(await startPair(answerFault(name, 'no')));
  for (const changes of [{}, WRITE]) expect((await call(changes)).json.error.data.name).toBe(name);
  expect(pair.upstream.requests).toHaveLength(2);
});

describe('the time limit of the call', () => {
  test('is not used for a wait that would leave no time', async () => {
    pair = closeAfterTest(await startPair(answerStatus('503 Service Unavailable', 'Retry-After: 1\r\n')));
    expect((await call({}, { 'x-request-timeout': '1' })).status).toBe(503);
    expect(pair.upstream.requests).toHaveLength(1);
  });

  test('includes the wait that the server asks for, if there is enough time', async () => {
    const refuse = answerStatus('503 Service Unavailable', 'Retry-After: 1\r\n');
    pair = closeAfterTest(await startPair(answerAfter(1, refuse)));
    const tookMs = await measureMs(async () => {
      expect((await call({}, { 'x-request-timeout': '60' })).json.result).toBe(true);
    });
    expect(tookMs).toBeGreaterThanOrEqual(1000 - 1);
  });
});

describe('the retry budget', () => {
  const STANDING = { nowMs: () => 1_000_000 };
  /** No call waits until another one has tried its credentials, and 503 does not halve the limit. */
  const ALL_AT_ONCE = {
    'upstream.refusedCredentialsTtlMs': '0',
    'upstream.concurrency': '64',
    'upstream.concurrencyMin': '64',
  };

  test.each(['502 Bad Gateway', '503 Service Unavailable'])(
    'does not multiply an outage: 100 calls to a server that answers %s',
    async (status) => {
      const settings = ALL_AT_ONCE;
      pair = closeAfterTest(await startPair(answerStatus(status), { ...STANDING, settings }));
      // The reads differ, because equal reads would be sent as one.
      await Promise.all(Array.from({ length: 100 }, (_, id) => call({ params: `[[${id}]]` })));
      expect(pair.upstream.requests.length).toBeLessThanOrEqual(100 * 1.1 + RETRIES_FLOOR);
      // 503 does not open the circuit breaker, so each call is sent.
      if (status.startsWith('503')) expect(pair.upstream.requests.length).toBeGreaterThan(100);
    },
  );

  test('is separate for each database; without budget the first error is the answer', async () => {
    pair = closeAfterTest(
      await startPair(
        (socket, request, index) =>
          request.body.includes('"write"')
            ? answerConflict(socket, request, index)
            : answerStatus('503 Service Unavailable')(socket, request, index),
        STANDING,
      ),
    );
    for (let reads = 0; reads < 6; reads++) await call({});
    const before = pair.upstream.requests.length;
    expect((await call(WRITE)).json.error.data.type).toBe('concurrency_conflict');
    expect(pair.upstream.requests).toHaveLength(before + 1);
    await call({ erp_instance: printInstance(pair.upstream.url, { db: '"other"' }) });
    expect(pair.upstream.requests).toHaveLength(before + 4);
  });

  test('is zero if upstream.retries is 0', async () => {
    pair = closeAfterTest(await startPair(resetFirst(1), { settings: { 'upstream.retries': '0' } }));
    expect((await call({})).status).toBe(502);
    expect(pair.upstream.connections()).toBe(1);
  });
});
