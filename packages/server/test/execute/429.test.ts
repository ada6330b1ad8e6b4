/** HTTP 429: too many refused keys are waiting for their answer. */
import { request } from 'node:http';
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { expectError, waitFor } from './expectations.ts';

test('rate_limited: a flood of invalid keys from one address, which does not delay valid keys', async () => {
  const proxy = closeAfterTest(await startProxy({ nowMs: () => 1_000_000 }));
  // Delays never end, so that a valid key would get no answer if it were delayed.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldClearNativeTimers: true });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const requests = Array.from({ length: 300 }, () =>
    request(`${proxy.url}/api/erp/execute`, {
      method: 'POST',
      headers: { 'x-proxy-api': 'bad' },
      agent: false,
    }),
  );
  for (const waiting of requests) closeAfterTest({ close: () => waiting.destroy() });
  let refusedAtOnce = 0;
  for (const waiting of requests) {
    waiting.on('error', () => {});
    waiting.on('response', (response) => {
      if (response.statusCode === 429) refusedAtOnce++;
      response.resume();
    });
    waiting.end();
  }
  // Five requests are answered without delay, 256 wait, and the rest are refused at once.
  await waitFor(() => refusedAtOnce > 0);
  const answer = await proxy.post('{}', { 'x-proxy-api': 'bad' });
  expectError(answer, {
    status: 429,
    code: -32012,
    type: 'rate_limited',
    retryable: true,
    says: /wait before you try again/,
  });
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect((await proxy.post('{}')).status).toBe(400);
});
