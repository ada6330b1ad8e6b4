/** HTTP 504: Odoo did not answer in time. `outcome` says whether a write may have run. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo } from '../scripted-upstream.ts';
import { measureMs, pause } from '../time.ts';
import { type ExpectedError, expectError, printCall, waitFor } from './expectations.ts';

let pair: Pair;

const timeout = (rest: Pick<ExpectedError, 'retryable' | 'outcome' | 'says'>) => ({
  status: 504,
  code: -32003,
  type: 'upstream_timeout',
  id: 1,
  ...rest,
});

const read = (headers?: Record<string, string>) => pair.proxy.post(printCall(pair.upstream.url), headers);
const write = (headers?: Record<string, string>) =>
  pair.proxy.post(printCall(pair.upstream.url, { action: '"write"', params: '[[1],{}]' }), headers);

const FAST = { 'upstream.timeoutMs': '500', 'upstream.refusedCredentialsTtlMs': '0' };

test('upstream_timeout: the time limit of the call has passed', async () => {
  pair = closeAfterTest(await startPair(() => {}, { settings: FAST }));
  expectError(
    await read(),
    timeout({ retryable: true, outcome: 'unknown', says: /x-request-timeout.*only reads/ }),
  );
  expectError(await write(), timeout({ outcome: 'unknown', says: /x-request-timeout.*may have run/ }));
  await waitFor(() => pair.upstream.sockets.size === 0);
});

test('upstream_timeout: the time limit that the caller set has passed before the last byte', async () => {
  pair = closeAfterTest(
    await startPair(async (socket) => {
      // The header and single bytes do not extend the time limit.
      socket.write('HTTP/1.0 200 OK\r\nContent-Length: 10000\r\n\r\n{"jsonrpc": "2.0", "id": 1, "result": "');
      for (; !socket.destroyed; await pause()) socket.write('x');
    }),
  );
  const tookMs = await measureMs(async () => {
    const answer = await write({ 'x-request-timeout': '1' });
    expectError(answer, timeout({ outcome: 'unknown', says: /in time/ }));
  });
  expect(tookMs).toBeGreaterThanOrEqual(1000 - 1);
  await waitFor(() => pair.upstream.sockets.size === 0);
});

test('upstream_timeout: no first byte within upstream.firstByteTimeoutMs', async () => {
  pair = closeAfterTest(await startPair(() => {}, { settings: { 'upstream.firstByteTimeoutMs': '50' } }));
  expectError(
    await read(),
    timeout({ retryable: true, outcome: 'unknown', says: /did not begin to answer/ }),
  );
  expectError(await write(), timeout({ outcome: 'unknown', says: /did not begin to answer/ }));
});

test('upstream_timeout: 504 from a reverse proxy', async () => {
  pair = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, '<h1>504</h1>', '504 Gateway Time-out')),
  );
  expectError(
    await read(),
    timeout({ retryable: true, outcome: 'unknown', says: /reverse proxy.*only reads/ }),
  );
  expectError(await write(), timeout({ outcome: 'unknown', says: /reverse proxy.*may have run/ }));
});
