/** Tests that the time limit of a call applies until the last byte of its answer was received and sent. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { readInFlight } from '../read-in-flight.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type Script,
  type ScriptedUpstream,
} from '../scripted-upstream.ts';
import { takeAnswer } from '../take-answer.ts';
import { expectToStay, passTurns, pause } from '../time.ts';
import { startCaller } from './caller.ts';
import { writeForEver, writeHead, writePiece } from './framing.ts';
import { ODOO_HEAD, startPair } from './pair.ts';

/** Sends a byte every moment, for ever. */
const trickle =
  (start: string, length: number): Script =>
  async (socket) => {
    writeHead(socket, 'length', length);
    writePiece(socket, 'length', start);
    while (!socket.destroyed) {
      writePiece(socket, 'length', ' ');
      await pause();
    }
  };

/** Time limit of the calls that must time out. Even a busy machine sends the calls within it. */
const TIMEOUT_MS = 1000;
const BY_CALLER = { 'x-request-timeout': String(TIMEOUT_MS / 1000) };
const BY_OPERATOR = { 'upstream.timeoutMs': String(TIMEOUT_MS) };
/** Longer than a test may take, so that a test which waits for this limit fails. */
const NO_TIMEOUT = { 'upstream.timeoutMs': '300000', 'http.answerBytesPerSecondMin': '0' };

/** Stops the timers: time limits pass only when the test says so. Upstreams still write in real time. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
}

/** Expects that the call does not end before its time limit. */
async function passTimeLimit({ sockets }: ScriptedUpstream): Promise<void> {
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1);
  await expectToStay(() => sockets.size, 1);
  await vi.advanceTimersByTimeAsync(1);
}

describe('an upstream that trickles', () => {
  test.each([
    ['a long result', {}],
    ['a long result, compressed', { 'accept-encoding': 'br' }],
  ])('is disconnected, and so is its caller: %s', async (_, headers) => {
    const script = trickle(`${ODOO_HEAD}"${'x'.repeat(20_000)}`, 10_000_000);
    const { proxy, upstream } = await startPair(script, { settings: NO_TIMEOUT });
    stopClock();
    const caller = startCaller(proxy, makeCall(upstream.url), { headers: { ...BY_CALLER, ...headers } });
    await caller.until((bytes) => bytes.length > 0);
    await passTimeLimit(upstream);
    expect(await caller.ended).toBe('reset');
    expect(takeAnswer(caller.received)).toMatchObject({ status: 200, isWhole: false });
    vi.useRealTimers();
    await expect.poll(() => upstream.sockets.size).toBe(0);
    await expect.poll(() => proxy.log).toMatchObject([{ msg: 'call', outcome: 'timeout' }]);
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
    const { proxy, upstream } = await startPair(script, { settings: BY_OPERATOR });
    stopClock();
    const called = proxy.call(makeCall(upstream.url));
    while (upstream.requests.length === 0) await passTurns();
    await passTimeLimit(upstream);
    const { status, json } = await called;
    expect(status).toBe(504);
    expect(json).toMatchObject({ id: 1, error: { code: -32003, data: { outcome: 'unknown' } } });
    vi.useRealTimers();
    await expect.poll(() => upstream.sockets.size).toBe(0);
  });
});

describe('a caller that does not read its answer', () => {
  /** More bytes than the kernel buffers for one connection. */
  const LARGE_BYTES = 7 * 1024 ** 2;
  /** Sends an answer that the proxy must read whole, because the members of its envelope have another order. */
  const sendLarge: Script = (socket) =>
    answerLikeOdoo(socket, `{"result": "${'x'.repeat(LARGE_BYTES)}", "jsonrpc": "2.0", "id": 1}`);
  const sendForEver: Script = async (socket) => {
    writeHead(socket, 'close', 0);
    writePiece(socket, 'close', `${ODOO_HEAD}"`);
    await writeForEver(socket);
  };

  test('is disconnected in the middle of a result, and so is its upstream', async () => {
    const { proxy, upstream } = await startPair(sendForEver, { settings: BY_OPERATOR });
    const caller = startCaller(proxy, makeCall(upstream.url), { isPaused: true });
    await expect.poll(() => proxy.log).toMatchObject([{ outcome: 'timeout' }]);
    await expect.poll(() => upstream.sockets.size).toBe(0);
    caller.socket.resume();
    expect(await caller.ended).toBe('reset');
  });

  test.each([
    { what: 'a batch', requests: [4] },
    { what: 'single calls on one connection', requests: Array<number>(4).fill(1) },
  ])('is disconnected within seconds although its whole answer is ready: $what', async ({ requests }) => {
    // The time limit is long enough for the answers to be complete on a busy machine, because a call that times out has
    // a short answer.
    const { proxy, upstream } = await startPair(sendLarge, { settings: { 'upstream.timeoutMs': '6000' } });
    const call = makeCall(upstream.url);
    const [first, ...more] = requests.map((size) => (size === 1 ? call : Array(size).fill(call)));
    const caller = startCaller(proxy, first, { isPaused: true });
    for (const body of more) caller.send(body);
    await expect.poll(() => readInFlight(proxy.url)).not.toBe(0);
    await expect.poll(() => readInFlight(proxy.url)).toBe(0);
    caller.socket.resume();
    expect(await caller.ended).toBe('reset');
  });

  test.each([
    ['plain', {}],
    ['not plain', { connection: 'te, keep-alive', te: 'trailers' }],
  ])(
    'is disconnected within seconds although its calls are refused before they begin: %s',
    async (_, more) => {
      const { proxy } = await startPair(sendLarge, { settings: BY_OPERATOR });
      const accepted = new Promise<Socket>((resolve) => proxy.app.server.server.once('connection', resolve));
      // The answers repeat the origin, so that together they are larger than the buffers of the kernel.
      const headers = {
        'content-type': 'text/plain',
        origin: `https://${'x'.repeat(7_000)}.example`,
        ...more,
      };
      const caller = startCaller(proxy, '', { headers, isPaused: true });
      for (let count = 1; count < 1_500; count++) caller.send('');
      const connection = await accepted;
      await expect.poll(() => connection.destroyed).toBe(true);
      await expect.poll(() => readInFlight(proxy.url)).toBe(0);
      caller.socket.resume();
      expect(await caller.ended).toBe('reset');
    },
  );

  test('does not delay a stop', async () => {
    const { proxy, upstream } = await startPair(sendLarge, { settings: NO_TIMEOUT });
    const call = makeCall(upstream.url);
    const caller = startCaller(proxy, [call, call, call], { isPaused: true });
    caller.send(call);
    await expect.poll(() => proxy.log.length).toBe(3);
    await proxy.close();
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
  // The proxy has received the whole answer. If the call still waited for it, the grace time would end it.
  await expect.poll(() => upstream.sockets.size).toBe(0);
  const stopped = proxy.close();
  caller.socket.resume();
  await stopped;
  await caller.ended;
  expect(takeAnswer(caller.received)).toMatchObject({ status: 200, isWhole: true });
});
