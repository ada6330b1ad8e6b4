/** What one client key can do to the others at a database: by long calls, and by answers that it does not read. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { printCall, printInstance } from '../execute/expectations.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import { answerLikeOdoo, answerTrue, printResult, startUpstream } from '../scripted-upstream.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const PATIENT = { timeout: 30_000, interval: 20 };
const LARGE = printResult(`"${'x'.repeat(48 * 1024 * 1024)}"`);
/** A batch holds it back whole. */
const MEDIUM = printResult(`"${'x'.repeat(255 * 1024)}"`);

/** Calls whose parameters have `hang` are never answered; those that have `large` have an answer larger than any buffer. */
async function start(settings: Record<string, string> = {}) {
  const upstream = await startUpstream(async (socket, request, index) => {
    if (request.body.includes('hang')) return;
    if (request.body.includes('large')) return answerLikeOdoo(socket, LARGE);
    if (request.body.includes('medium')) return answerLikeOdoo(socket, MEDIUM);
    if (request.body.includes('late')) await sleep(2000);
    return answerTrue(socket, request, index);
  });
  open.push(upstream);
  const proxy = await startProxy({ allow: [upstream.url], settings });
  open.push(proxy);
  const print = (word: string) =>
    printCall('', {
      action: '"search"',
      params: `[["${word}"]]`,
      erp_instance: printInstance(upstream.url),
    });
  return { upstream, proxy, print };
}

async function makeKey({ app }: ErpProxy): Promise<Record<string, string>> {
  const { key } = await app.keys.create({ name: 'app' });
  return { 'cache-control': 'no-cache', 'x-request-timeout': '120', 'x-proxy-api': key };
}

const stateOf = ({ app }: ErpProxy) => app.databaseLimiters.states()[0];

/** A call whose caller takes nothing of the answer. */
function callUnread({ url }: ErpProxy, headers: Record<string, string>, body: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  open.push({ close: () => void socket.destroy() });
  socket.pause();
  socket.on('error', () => {});
  const lines = {
    host: 'proxy',
    'content-type': 'application/json',
    'content-length': body.length,
    ...headers,
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /api/erp/execute HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  return socket;
}

describe('a key with more long calls than there are turns', () => {
  test('does not keep a key waiting that comes later', async () => {
    const { proxy, print } = await start();
    const [greedy, modest] = [await makeKey(proxy), await makeKey(proxy)];
    expect((await proxy.call(print('quick'), greedy)).json.result).toBe(true);
    for (let call = 0; call < 20; call++) void proxy.call(print('hang'), greedy).catch(() => {});
    await expect.poll(() => stateOf(proxy), PATIENT).toMatchObject({ running: 8, waiting: 12 });
    const answer = await proxy.call(print('quick'), { ...modest, 'x-request-timeout': '5' });
    expect(answer.json.result).toBe(true);
  });

  test('holds its share of them while another key calls', async () => {
    const { proxy, print } = await start({ 'upstream.concurrency': '8' });
    const [greedy, modest] = [await makeKey(proxy), await makeKey(proxy)];
    expect((await proxy.call(print('quick'), modest)).json.result).toBe(true);
    for (let call = 0; call < 20; call++) void proxy.call(print('hang'), greedy).catch(() => {});
    await expect.poll(() => stateOf(proxy), PATIENT).toMatchObject({ running: 4, waiting: 16 });
    for (let call = 0; call < 10; call++) {
      const answer = await proxy.call(print('quick'), { ...modest, 'x-request-timeout': '5' });
      expect(answer.json.result).toBe(true);
    }
    expect(stateOf(proxy)).toMatchObject({ running: 4, waiting: 16 });
  });
});

describe('answers that nobody reads', () => {
  test('hold their turns no longer than the least rate allows, and keep no other key waiting', async () => {
    const { proxy, print, upstream } = await start();
    const [greedy, modest] = [await makeKey(proxy), await makeKey(proxy)];
    expect((await proxy.call(print('quick'), greedy)).json.result).toBe(true);
    const unread = Array.from({ length: 8 }, () => callUnread(proxy, greedy, print('large')));
    await expect.poll(() => stateOf(proxy), PATIENT).toMatchObject({ running: 8 });
    const answer = await proxy.call(print('quick'), { ...modest, 'x-request-timeout': '5' });
    expect(answer.json.result).toBe(true);
    await expect.poll(() => stateOf(proxy), PATIENT).toMatchObject({ running: 0, waiting: 0 });
    await expect.poll(() => upstream.sockets.size, PATIENT).toBe(0);
    const broken = proxy.log.filter(({ outcome }) => outcome === 'broken_off');
    expect(broken).toHaveLength(unread.length);
    for (const line of broken)
      expect(String(line['detail'])).toMatch(/the caller took less than 131072 bytes a second/);
  }, 60_000);

  test('of reads that are shared hold the one turn no longer either', async () => {
    const { proxy, print } = await start();
    const { 'cache-control': _, ...headers } = await makeKey(proxy);
    for (let call = 0; call < 3; call++) callUnread(proxy, headers, print('large'));
    await expect.poll(() => stateOf(proxy), PATIENT).toMatchObject({ running: 1 });
    await expect.poll(() => stateOf(proxy), PATIENT).toMatchObject({ running: 0, waiting: 0 });
  }, 60_000);
});

describe('a batch whose caller takes nothing', () => {
  test('gives back the turns of answers that wait for those before them', async () => {
    const { proxy, print } = await start();
    const headers = await makeKey(proxy);
    expect((await proxy.call(print('quick'), headers)).json.result).toBe(true);
    // All medium answers are done when the first call is, so that only those after them hold turns.
    const words = ['late', ...Array(84).fill('medium'), ...Array(15).fill('large')];
    callUnread(proxy, headers, `[${words.map(print).join()}]`);
    await expect.poll(() => proxy.log.filter(({ outcome }) => outcome === 'ok'), PATIENT).toHaveLength(86);
    await expect.poll(() => stateOf(proxy), PATIENT).toMatchObject({ running: 0, waiting: 0 });
    const broken = proxy.log.filter(({ outcome }) => outcome === 'broken_off');
    expect(broken.length).toBeGreaterThan(0);
    for (const line of broken)
      expect(String(line['detail'])).toMatch(/the caller took less than 131072 bytes a second/);
  }, 60_000);
});

test('a turn is given back once all of the answer has come, though the store has still to keep it', async () => {
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
  const headers = { ...(await makeKey(proxy)), 'idempotency-key': 'a-key' };
  const call = proxy.call(print('quick'), headers);
  await expect.poll(() => isKeeping, PATIENT).toBe(true);
  expect(stateOf(proxy)).toMatchObject({ running: 0 });
  held.resolve();
  expect((await call).json.result).toBe(true);
});
