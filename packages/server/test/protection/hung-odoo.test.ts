/** An Odoo that takes connections and never answers: how soon callers hear of it, whatever time they give their calls. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { expectError, printCall, printInstance } from '../execute/expectations.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import { answerTrue, startUpstream } from '../scripted-upstream.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const PATIENT = { timeout: 20_000, interval: 20 };

/** Calls whose parameters have `hang` are never answered. */
async function start(settings: Record<string, string> = {}) {
  const upstream = await startUpstream((socket, request, index) =>
    request.body.includes('hang') ? undefined : answerTrue(socket, request, index),
  );
  open.push(upstream);
  const proxy = await startProxy({ allow: [upstream.url], settings });
  open.push(proxy);
  const print = (word: string) =>
    printCall('', {
      action: '"search"',
      params: `[["${word}"]]`,
      erp_instance: printInstance(upstream.url),
    });
  // The credentials are known afterwards, so that calls are sent side by side.
  expect((await proxy.call(print('quick'), NO_SHARING)).json.result).toBe(true);
  return { upstream, proxy, print };
}

const NO_SHARING = { 'cache-control': 'no-cache' };

const breakerOf = ({ app }: ErpProxy) => app.databaseLimiters.states()[0]?.breaker;

async function makeKey({ app }: ErpProxy): Promise<Record<string, string>> {
  return { ...NO_SHARING, 'x-proxy-api': (await app.keys.create({ name: 'app' })).key };
}

describe('is left alone', () => {
  test.each([
    { name: 'callers allow a second', settings: {}, headers: { 'x-request-timeout': '1' } },
    { name: 'the operator allows 400 ms', settings: { 'upstream.timeoutMs': '400' }, headers: {} },
  ])(
    'where $name',
    async ({ settings, headers }) => {
      const { upstream, proxy, print } = await start(settings);
      const callers = [await makeKey(proxy), await makeKey(proxy)];
      let isOver = false;
      const types: string[] = [];
      const calls = Array.from({ length: 8 }, async (_, call) => {
        while (!isOver)
          types.push(
            (await proxy.call(print('hang'), { ...callers[call % 2], ...headers })).json.error.data.type,
          );
      });
      await expect.poll(() => breakerOf(proxy), PATIENT).not.toBe('closed');
      const sent = upstream.connections();
      expect(sent).toBeLessThan(40);
      const refused = await proxy.post(print('hang'), { ...NO_SHARING, ...headers });
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

  test('where callers leave first', async () => {
    const { proxy, print } = await start();
    const keys = [await makeKey(proxy), await makeKey(proxy)];
    const leave = async (headers: Record<string, string> | undefined) => {
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
    await Promise.all(Array.from({ length: 6 }, (_, call) => leave(keys[call % 2])));
    await expect.poll(() => breakerOf(proxy), PATIENT).not.toBe('closed');
  }, 60_000);
});

test('one that answers others is not left alone for reports that are given a second', async () => {
  const { proxy, print } = await start();
  const [reports, other] = [await makeKey(proxy), await makeKey(proxy)];
  let isOver = false;
  const hanging = Array.from({ length: 4 }, async () => {
    while (!isOver) await proxy.call(print('hang'), { ...reports, 'x-request-timeout': '1' });
  });
  const endMs = performance.now() + 4000;
  while (performance.now() < endMs) {
    expect((await proxy.call(print('quick'), other)).json.result).toBe(true);
    expect(breakerOf(proxy)).toBe('closed');
    await sleep(50);
  }
  isOver = true;
  await Promise.all(hanging);
}, 60_000);
