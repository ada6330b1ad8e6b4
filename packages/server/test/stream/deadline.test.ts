/** The time limit of a call applies until the last byte of its answer was received and sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { expectWithin } from '../expect-within.ts';
import type { Pair } from '../pair.ts';
import { readInFlight } from '../read-in-flight.ts';
import { answerLikeOdoo, makeCall, printResult, type Script } from '../scripted-upstream.ts';
import { takeAnswer } from '../take-answer.ts';
import { startCaller } from './caller.ts';
import { writeForEver, writeHead, writePiece } from './framing.ts';
import { ODOO_HEAD, startPair } from './pair.ts';

/** Sends a byte every few milliseconds, for ever. */
const trickle =
  (start: string, length: number): Script =>
  async (socket) => {
    writeHead(socket, 'length', length);
    writePiece(socket, 'length', start);
    while (!socket.destroyed) {
      writePiece(socket, 'length', ' ');
      await sleep(10);
    }
  };

const ONE_SECOND = { 'x-request-timeout': '1' };

describe('an upstream that trickles', () => {
  test.each([
    ['a long result', {}],
    ['a long result, compressed', { 'accept-encoding': 'br' }],
  ])('is disconnected, and so is its caller: %s', async (_, headers) => {
    const script = trickle(`${ODOO_HEAD}"${'x'.repeat(20_000)}`, 10_000_000);
    const cutOff = async ({ proxy, upstream }: Pair) => {
      const startedMs = performance.now();
      const caller = startCaller(proxy, makeCall(upstream.url), { headers: { ...ONE_SECOND, ...headers } });
      expect(await caller.ended).toBe('reset');
      expect(performance.now() - startedMs).toBeGreaterThan(950);
      expect(takeAnswer(caller.received)).toMatchObject({ status: 200, isWhole: false });
      await expect.poll(() => upstream.sockets.size).toBe(0);
      await expect.poll(() => proxy.log).toMatchObject([{ msg: 'call', outcome: 'timeout' }]);
    };
    await expectWithin(1_500, cutOff, () => startPair(script));
  });

  const stallPacked: Script = (socket) => {
    writeHead(socket, 'length', 1_000, 'Content-Encoding: gzip\r\n');
    writePiece(socket, 'length', gzipSync(printResult('true')).subarray(0, 15));
  };
  test.each([
    ['a short result', trickle(`${ODOO_HEAD}"`, 16_000)],
    ['a fault', trickle('{"jsonrpc": "2.0", "id": 1, "error": {"code": 200,', 1_000_000)],
    ['the head of a result', trickle('{', 1_000_000)],
    ['the head of a compressed result', stallPacked],
  ])('causes upstream_timeout if nothing was passed on yet: %s', async (_, script) => {
    const { proxy, upstream } = await startPair(script, { settings: { 'upstream.timeoutMs': '300' } });
    const startedMs = performance.now();
    const { status, json } = await proxy.call(makeCall(upstream.url));
    expect(performance.now() - startedMs).toBeGreaterThan(280);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    expect(status).toBe(504);
    expect(json).toMatchObject({ id: 1, error: { code: -32003, data: { outcome: 'unknown' } } });
    await expect.poll(() => upstream.sockets.size).toBe(0);
  });
});

describe('a caller that does not read its answer', () => {
  /** More than the kernel buffers for one connection. */
  const LARGE_BYTES = 7 * 1024 ** 2;
  /** The proxy reads this answer whole, because the members of its envelope have another order. */
  const sendLarge: Script = (socket) =>
    answerLikeOdoo(socket, `{"result": "${'x'.repeat(LARGE_BYTES)}", "jsonrpc": "2.0", "id": 1}`);
  const sendForEver: Script = async (socket) => {
    writeHead(socket, 'close', 0);
    writePiece(socket, 'close', `${ODOO_HEAD}"`);
    await writeForEver(socket);
  };

  test('is disconnected in the middle of a result, and so is its upstream', async () => {
    const { proxy, upstream } = await startPair(sendForEver, { settings: { 'upstream.timeoutMs': '300' } });
    const caller = startCaller(proxy, makeCall(upstream.url), { isPaused: true });
    await expect.poll(() => proxy.log, { timeout: 2_000 }).toMatchObject([{ outcome: 'timeout' }]);
    await expect.poll(() => upstream.sockets.size).toBe(0);
    caller.socket.resume();
    expect(await caller.ended).toBe('reset');
  });

  test.each([
    { what: 'a batch', requests: [12] },
    { what: 'single calls on one connection', requests: Array<number>(12).fill(1) },
  ])(
    'is disconnected within seconds although its whole answer is ready: $what',
    { timeout: 40_000 },
    async ({ requests }) => {
      // Enough time for the answers to be complete on a busy machine: a call that times out has a short answer.
      const { proxy, upstream } = await startPair(sendLarge, { settings: { 'upstream.timeoutMs': '6000' } });
      const call = makeCall(upstream.url);
      const [first, ...more] = requests.map((size) => (size === 1 ? call : Array(size).fill(call)));
      const caller = startCaller(proxy, first, { isPaused: true });
      for (const body of more) caller.send(body);
      await expect.poll(() => readInFlight(proxy.url)).not.toBe(0);
      await expect.poll(() => readInFlight(proxy.url), { timeout: 20_000 }).toBe(0);
      caller.socket.resume();
      expect(await caller.ended).toBe('reset');
    },
  );

  test.each([
    ['plain', {}],
    ['not plain', { connection: 'te, keep-alive', te: 'trailers' }],
  ])(
    'is disconnected within seconds although its calls are refused before they begin: %s',
    { timeout: 40_000 },
    async (_, more) => {
      const { proxy } = await startPair(sendLarge, { settings: { 'upstream.timeoutMs': '300' } });
      // The answers repeat the origin, and together they are larger than the buffers of the kernel.
      const headers = {
        'content-type': 'text/plain',
        origin: `https://${'x'.repeat(7_000)}.example`,
        ...more,
      };
      const caller = startCaller(proxy, '', { headers, isPaused: true });
      for (let count = 1; count < 1_500; count++) caller.send('');
      await expect.poll(() => readInFlight(proxy.url), { timeout: 20_000 }).not.toBe(0);
      await sleep(500);
      await expect.poll(() => readInFlight(proxy.url), { timeout: 5_000 }).toBe(0);
      caller.socket.resume();
      expect(await caller.ended).toBe('reset');
    },
  );

  test('does not delay a stop', async () => {
    const { proxy, upstream } = await startPair(sendLarge);
    const call = makeCall(upstream.url);
    const caller = startCaller(proxy, [call, call, call], { isPaused: true });
    caller.send(call);
    await expect.poll(() => proxy.log.length, { timeout: 3_000 }).toBe(3);
    const startedMs = performance.now();
    await proxy.close();
    expect(performance.now() - startedMs).toBeLessThan(4_000);
    caller.socket.resume();
    expect(await caller.ended).toBe('reset');
  });
});

test('a stop lets a caller that reads receive a complete answer', async () => {
  const { proxy, upstream } = await startPair((socket) =>
    answerLikeOdoo(socket, printResult(`"${'x'.repeat(200_000)}"`)),
  );
  const caller = startCaller(proxy, makeCall(upstream.url), { isPaused: true });
  await expect.poll(() => upstream.requests.length).toBe(1);
  // The proxy has all of the answer. A call that still waits for it would end with the grace time.
  await expect.poll(() => upstream.sockets.size).toBe(0);
  const stopped = proxy.close();
  caller.socket.resume();
  await stopped;
  await caller.ended;
  expect(takeAnswer(caller.received)).toMatchObject({ status: 200, isWhole: true });
});
