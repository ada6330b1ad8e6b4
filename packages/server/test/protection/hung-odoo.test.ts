/** An Odoo that accepts connections and never answers: the breaker opens soon, whatever time limit calls have. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { expectError } from '../execute/expectations.ts';
import type { Proxy as ErpProxy } from '../harness.ts';
import { makeKeyHeaders, readState, startWordPair } from './word-odoo.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const PATIENT = { timeout: 20_000, interval: 20 };

async function start(settings: Record<string, string> = {}) {
  const pair = await startWordPair(settings);
  open.push(pair);
  // The credentials are verified now, so that later calls are sent concurrently.
  const first = await pair.proxy.call(pair.print('quick'), { 'cache-control': 'no-cache' });
  expect(first.json.result).toBe(true);
  return pair;
}

const readBreaker = (proxy: ErpProxy) => readState(proxy)?.breaker;

describe('the breaker of a hung server opens', () => {
  test.each([
    { name: 'callers allow one second', settings: {}, headers: { 'x-request-timeout': '1' } },
    { name: 'the operator allows 400 ms', settings: { 'upstream.timeoutMs': '400' }, headers: {} },
  ])(
    'if $name',
    async ({ settings, headers }) => {
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
      await expect.poll(() => readBreaker(proxy), PATIENT).not.toBe('closed');
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
    },
    60_000,
  );

  test('if callers leave before the time limit', async () => {
    const { proxy, print } = await start();
    const keys = [await makeKeyHeaders(proxy), await makeKeyHeaders(proxy)];
    const callAndLeave = async (headers: Record<string, string> | undefined) => {
      const leaving = new AbortController();
      const call = fetch(`${proxy.url}/api/erp/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: print('hang'),
        signal: leaving.signal,
      }).catch(() => {});
      await sleep(600);
      leaving.abort();
      await call;
    };
    await Promise.all(Array.from({ length: 6 }, (_, call) => callAndLeave(keys[call % 2])));
    await expect.poll(() => readBreaker(proxy), PATIENT).not.toBe('closed');
  }, 60_000);
});

test('the breaker does not open for reports with a limit of one second while other calls are answered', async () => {
  const { proxy, print } = await start();
  const [reports, other] = [await makeKeyHeaders(proxy), await makeKeyHeaders(proxy)];
  let isOver = false;
  const hanging = Array.from({ length: 4 }, async () => {
    while (!isOver) await proxy.call(print('hang'), { ...reports, 'x-request-timeout': '1' });
  });
  const endMs = performance.now() + 4000;
  while (performance.now() < endMs) {
    expect((await proxy.call(print('quick'), other)).json.result).toBe(true);
    expect(readBreaker(proxy)).toBe('closed');
    await sleep(50);
  }
  isOver = true;
  await Promise.all(hanging);
}, 60_000);
