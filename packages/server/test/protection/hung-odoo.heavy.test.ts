/** Tests an Odoo that accepts connections and never answers: the breaker opens soon, whatever time limit calls have. */
import { afterEach, describe, expect, test } from 'vitest';
import { expectError } from '../execute/expectations.ts';
import type { Proxy as ErpProxy } from '../harness.ts';
import { pause } from '../time.ts';
import { makeKeyHeaders, readState, startWordPair } from './word-odoo.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(settings: Record<string, string> = {}) {
  const pair = await startWordPair(settings);
  open.push(pair);
  // The credentials are verified now, so that later calls are sent concurrently.
  const first = await pair.proxy.call(pair.print('quick'), { 'cache-control': 'no-cache' });
  expect(first.json.result).toBe(true);
  return pair;
}

/** Longer than the silence of a server after which calls of callers that leave open the breaker. */
const LONGER_THAN_SILENCE_MS = 600;

const readBreaker = (proxy: ErpProxy) => readState(proxy)?.breaker;

describe('the breaker of a hung server opens', () => {
  test.each([
    { name: 'callers allow one second', settings: {}, headers: { 'x-request-timeout': '1' } },
    { name: 'the operator allows 400 ms', settings: { 'upstream.timeoutMs': '400' }, headers: {} },
  ])('if $name', async ({ settings, headers }) => {
    const { upstream, proxy, print } = await start(settings);
    const callers = [await makeKeyHeaders(proxy), await makeKeyHeaders(proxy)];
    let isOver = false;
    const types: string[] = [];
    const calls = Array.from({ length: 8 }, async (_, call) => {
      while (!isOver)
        types.push(
          (await proxy.call(print('hang'), { ...callers[call % 2], ...headers })).json.error.data.type,
        );
    });
    await expect.poll(() => readBreaker(proxy)).not.toBe('closed');
    const sent = upstream.connections();
    expect(sent).toBeLessThan(40);
    const refused = await proxy.post(print('hang'), { 'cache-control': 'no-cache', ...headers });
    expectError(refused, {
      status: 503,
      code: -32013,
      type: 'overloaded',
      id: 1,
      retryable: true,
      outcome: 'not_sent',
      says: /has not answered lately/,
    });
    isOver = true;
    await Promise.all(calls);
    expect(new Set(types)).toEqual(new Set(['upstream_timeout', 'overloaded']));
  });

  test('if callers leave before the time limit', async () => {
    const { proxy, upstream, print } = await start();
    const keys = [await makeKeyHeaders(proxy), await makeKeyHeaders(proxy)];
    const leaving = new AbortController();
    const calls = Array.from({ length: 6 }, (_, call) =>
      fetch(`${proxy.url}/api/erp/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...keys[call % 2] },
        body: print('hang'),
        signal: leaving.signal,
      }).catch(() => {}),
    );
    // The silence begins when the server has received the calls.
    const countHanging = () => upstream.requests.filter(({ body }) => body.includes('hang')).length;
    await expect.poll(countHanging).toBe(6);
    await pause(LONGER_THAN_SILENCE_MS);
    leaving.abort();
    await Promise.all(calls);
    await expect.poll(() => readBreaker(proxy)).not.toBe('closed');
  });
});

test('the breaker does not open for reports with a limit of one second while other calls are answered', async () => {
  const { proxy, print } = await start();
  const [reports, other] = [await makeKeyHeaders(proxy), await makeKeyHeaders(proxy)];
  let ended = 0;
  const hanging = Array.from({ length: 4 }, async () => {
    for (let call = 0; call < 3; call++) {
      await proxy.call(print('hang'), { ...reports, 'x-request-timeout': '1' });
      ended++;
    }
  });
  while (ended < 12) {
    expect((await proxy.call(print('quick'), other)).json.result).toBe(true);
    expect(readBreaker(proxy)).toBe('closed');
    await pause();
  }
  await Promise.all(hanging);
});
