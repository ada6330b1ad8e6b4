/**
 * Tests the effect of one client key on others at a database: by long calls, and by answers that its client does not
 * read.
 */
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Proxy as ErpProxy } from '../harness.ts';
import { makeKeyHeaders, readState, startWordPair, type WordPair } from './word-odoo.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(settings: Record<string, string> = {}): Promise<WordPair> {
  const pair = await startWordPair(settings);
  open.push(pair);
  return pair;
}

async function makePatientKey(proxy: ErpProxy): Promise<Record<string, string>> {
  return { ...(await makeKeyHeaders(proxy)), 'x-request-timeout': '120' };
}

/** Sends a call whose caller reads nothing of the answer. */
function callUnread({ url }: ErpProxy, headers: Record<string, string>, body: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  open.push({ close: () => void socket.destroy() });
  socket.pause();
  socket.on('error', () => {});
  const fields = {
    host: 'proxy',
    'content-type': 'application/json',
    'content-length': body.length,
    ...headers,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /api/erp/execute HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  return socket;
}

describe('a key with more long calls than the concurrency limit', () => {
  test('does not delay another key that calls later', async () => {
    const { proxy, print } = await start();
    const [greedy, modest] = [await makePatientKey(proxy), await makePatientKey(proxy)];
    expect((await proxy.call(print('quick'), greedy)).json.result).toBe(true);
    for (let call = 0; call < 20; call++) void proxy.call(print('hang'), greedy).catch(() => {});
    await expect.poll(() => readState(proxy)).toMatchObject({ running: 8, waiting: 12 });
    const answer = await proxy.call(print('quick'), { ...modest, 'x-request-timeout': '5' });
    expect(answer.json.result).toBe(true);
  });

  test('holds only its share of the permits while another key calls', async () => {
    const { proxy, print } = await start({ 'upstream.concurrency': '8' });
    const [greedy, modest] = [await makePatientKey(proxy), await makePatientKey(proxy)];
    expect((await proxy.call(print('quick'), modest)).json.result).toBe(true);
    for (let call = 0; call < 20; call++) void proxy.call(print('hang'), greedy).catch(() => {});
    await expect.poll(() => readState(proxy)).toMatchObject({ running: 4, waiting: 16 });
    for (let call = 0; call < 10; call++) {
      const answer = await proxy.call(print('quick'), { ...modest, 'x-request-timeout': '5' });
      expect(answer.json.result).toBe(true);
    }
    expect(readState(proxy)).toMatchObject({ running: 4, waiting: 16 });
  });
});

describe('answers that are not read', () => {
  test('hold their permits only as long as the minimum rate allows, and do not delay other keys', async () => {
    const { proxy, print, upstream } = await start();
    const [greedy, modest] = [await makePatientKey(proxy), await makePatientKey(proxy)];
    expect((await proxy.call(print('quick'), greedy)).json.result).toBe(true);
    const unread = Array.from({ length: 8 }, () => callUnread(proxy, greedy, print('large')));
    await expect.poll(() => readState(proxy)).toMatchObject({ running: 8 });
    const answer = await proxy.call(print('quick'), { ...modest, 'x-request-timeout': '5' });
    expect(answer.json.result).toBe(true);
    await expect.poll(() => readState(proxy)).toMatchObject({ running: 0, waiting: 0 });
    await expect.poll(() => upstream.sockets.size).toBe(0);
    const broken = proxy.log.filter(({ outcome }) => outcome === 'broken_off');
    expect(broken).toHaveLength(unread.length);
    for (const line of broken)
      expect(String(line['detail'])).toMatch(/the caller took less than 131072 bytes a second/);
  });

  test('hold the permit of a shared read only as long as the minimum rate allows', async () => {
    const { proxy, print } = await start();
    const { 'cache-control': _, ...headers } = await makePatientKey(proxy);
    for (let call = 0; call < 3; call++) callUnread(proxy, headers, print('large'));
    await expect.poll(() => readState(proxy)).toMatchObject({ running: 1 });
    await expect.poll(() => readState(proxy)).toMatchObject({ running: 0, waiting: 0 });
  });
});

describe('a batch whose caller reads nothing', () => {
  test('releases the permits of answers that wait for earlier ones', async () => {
    const { proxy, print } = await start();
    const headers = await makePatientKey(proxy);
    expect((await proxy.call(print('quick'), headers)).json.result).toBe(true);
    // All medium answers are complete before the late one, so that only large answers hold permits.
    const words = ['late', ...Array(84).fill('medium'), ...Array(15).fill('large')];
    callUnread(proxy, headers, `[${words.map(print).join()}]`);
    await expect.poll(() => proxy.log.filter(({ outcome }) => outcome === 'ok')).toHaveLength(86);
    await expect.poll(() => readState(proxy)).toMatchObject({ running: 0, waiting: 0 });
    const broken = proxy.log.filter(({ outcome }) => outcome === 'broken_off');
    expect(broken.length).toBeGreaterThan(0);
    for (const line of broken)
      expect(String(line['detail'])).toMatch(/the caller took less than 131072 bytes a second/);
  });
});

test('a permit is released when the whole answer has arrived, before the store has kept it', async () => {
  const { proxy, print } = await start();
  const store = proxy.app.store.idempotency;
  const held = Promise.withResolvers<void>();
  const complete = store.complete.bind(store);
  let isKeeping = false;
  Object.assign(store, {
    complete: async (...given: Parameters<typeof complete>) => {
      isKeeping = true;
      await held.promise;
      return complete(...given);
    },
  });
  const headers = { ...(await makePatientKey(proxy)), 'idempotency-key': 'a-key' };
  const call = proxy.call(print('quick'), headers);
  await expect.poll(() => isKeeping).toBe(true);
  expect(readState(proxy)).toMatchObject({ running: 0 });
  held.resolve();
  expect((await call).json.result).toBe(true);
});
