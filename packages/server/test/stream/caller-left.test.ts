/** Tests that when a caller leaves, its call is cancelled at once, at whatever stage it is. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import type { Proxy as RunningProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type Script,
  type ScriptedUpstream,
} from '../scripted-upstream.ts';
import { takeAnswer } from '../take-answer.ts';
import { pause } from '../time.ts';
import { type Caller, type CallerOptions, startCaller } from './caller.ts';
import { untilStalled, writeForEver, writeHead, writePiece } from './framing.ts';
import { ODOO_HEAD, startPair } from './pair.ts';

const WAYS: Record<string, (socket: Socket) => void> = {
  'a normal end': (socket) => socket.end(),
  'a reset': (socket) => socket.resetAndDestroy(),
};

/** With these limits, nothing but the caller ends a call while a test waits. */
const NO_LIMITS = {
  'upstream.timeoutMs': '300000',
  'upstream.connectTimeoutMs': '300000',
  'http.answerBytesPerSecondMin': '0',
};

const silent: Script = () => {};
const sendFirst =
  (bytes: number): Script =>
  (socket) => {
    writeHead(socket, 'length', 1_000_000);
    writePiece(socket, 'length', ODOO_HEAD + '1'.repeat(bytes));
  };
const sendForEver: Script = async (socket) => {
  writeHead(socket, 'close', 0);
  writePiece(socket, 'close', `${ODOO_HEAD}"`);
  await writeForEver(socket);
};
const sendShort: Script = (socket) => {
  writeHead(socket, 'length', 1_000);
  writePiece(socket, 'length', `${ODOO_HEAD}[1, 2`);
};
const sendFault: Script = (socket) => {
  writeHead(socket, 'length', 100_000);
  writePiece(socket, 'length', '{"jsonrpc": "2.0", "id": 1, "error": {"code": 200,');
};

interface Stage {
  script: Script;
  options?: CallerOptions;
  isReached: (caller: Caller, upstream: ScriptedUpstream) => Promise<unknown>;
}

const STAGES: Record<string, Stage> = {
  'while Odoo works': { script: silent, isReached: () => pause() },
  'during a short answer': { script: sendShort, isReached: () => pause() },
  'during a fault': { script: sendFault, isReached: () => pause() },
  'while the result stalls': {
    script: sendFirst(20_000),
    isReached: (caller) => caller.until((bytes) => bytes.length > 20_000),
  },
  'while the result flows': {
    script: sendForEver,
    isReached: (caller) => caller.until((bytes) => bytes.length > 1_000_000),
  },
  'while a compressed result flows': {
    script: sendForEver,
    options: { headers: { 'accept-encoding': 'gzip' } },
    isReached: (caller) => caller.until((bytes) => bytes.length > 10_000),
  },
  'while the caller does not read': {
    script: sendForEver,
    options: { isPaused: true },
    isReached: (_, { sockets }) => untilStalled(sockets),
  },
};

const CASES = Object.keys(STAGES).flatMap((stage) => Object.keys(WAYS).map((way) => ({ stage, way })));

test.each(CASES)('$stage, by $way', async ({ stage, way }) => {
  const { script, options = {}, isReached } = STAGES[stage]!;
  const { proxy, upstream } = await startPair(script, { settings: NO_LIMITS });
  const caller = startCaller(proxy, makeCall(upstream.url), options);
  await expect.poll(() => upstream.requests.length).toBe(1);
  await isReached(caller, upstream);
  expect(upstream.sockets.size).toBe(1);
  WAYS[way]!(caller.socket);
  // Unread bytes would prevent the socket of the caller from sending its end.
  caller.socket.resume();
  await expect.poll(() => upstream.sockets.size).toBe(0);
  await expectEnded(proxy, 1);
});

test('before the connection to Odoo is open', async () => {
  const mute = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  const sockets = new Set<Socket>();
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  closeAfterTest(mute);
  // The TLS handshake, which never ends here, is part of connecting.
  const origin = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const { proxy } = await startPair(silent, { allow: [origin], settings: NO_LIMITS });
  const caller = startCaller(proxy, makeCall(origin));
  await expect.poll(() => sockets.size).toBe(1);
  caller.socket.destroy();
  await expect.poll(() => sockets.size).toBe(0);
  await expectEnded(proxy, 1);
});

describe('a batch', () => {
  test('cancels its running calls and starts no others', async () => {
    const { proxy, upstream } = await startPair(firstThen(silent), {
      settings: { 'batch.concurrency': '4', ...NO_LIMITS },
    });
    await proxy.call(makeCall(upstream.url));
    const calls = Array.from({ length: 20 }, (_, id) => makeCall(upstream.url, { id }));
    const caller = startCaller(proxy, calls);
    await expect.poll(() => upstream.requests.length).toBe(5);
    caller.socket.destroy();
    await expect.poll(() => upstream.sockets.size).toBe(0);
    await expectEnded(proxy, 20, 1);
    expect(upstream.connections()).toBe(5);
  });

  test('cancels calls whose answers wait for earlier ones', async () => {
    const sending: Socket[] = [];
    const { proxy, upstream } = await startPair(
      firstThen((socket, request, index) => {
        if (request.body.includes('"first"')) return;
        sending.push(socket);
        void sendForEver(socket, request, index);
      }),
      { settings: NO_LIMITS },
    );
    await proxy.call(makeCall(upstream.url));
    const caller = startCaller(proxy, [
      makeCall(upstream.url, { model_id: 'first' }),
      makeCall(upstream.url),
      makeCall(upstream.url),
    ]);
    await expect.poll(() => upstream.requests.length).toBe(4);
    await untilStalled(sending);
    caller.socket.destroy();
    await expect.poll(() => upstream.sockets.size).toBe(0);
    await expectEnded(proxy, 3, 1);
  });
});

test('pipelined calls are not sent if their caller leaves while an earlier call is answered', async () => {
  const { proxy, upstream } = await startPair(firstThen(silent), { settings: NO_LIMITS });
  await proxy.call(makeCall(upstream.url));
  const caller = startCaller(proxy, makeCall(upstream.url));
  await expect.poll(() => upstream.requests.length).toBe(2);
  caller.send(makeCall(upstream.url, { params: [[2]] }));
  await pause();
  caller.socket.destroy();
  await expect.poll(() => upstream.sockets.size).toBe(0);
  await expectEnded(proxy, 1, 1);
  expect(upstream.requests).toHaveLength(2);
});

test('a caller that stays is not taken for one that has left', async () => {
  const { proxy, upstream } = await startPair((socket) => answerLikeOdoo(socket, printResult('true')));
  const caller = startCaller(proxy, makeCall(upstream.url), { headers: { connection: 'close' } });
  expect(await caller.ended).toBe('closed');
  expect(takeAnswer(caller.received)).toMatchObject({ status: 200, isWhole: true });
  expect(proxy.log).toMatchObject([{ msg: 'call', outcome: 'ok' }]);
});

/** Answers the first call: until Odoo has accepted credentials once, calls with them wait for each other. */
function firstThen(script: Script): Script {
  return (socket, request, index) =>
    index === 0 ? answerLikeOdoo(socket, printResult('true')) : script(socket, request, index);
}

/** Expects that all calls after the first `before` ones are logged as `caller_left`, and that none runs any more. */
async function expectEnded(proxy: RunningProxy, calls: number, before = 0): Promise<void> {
  const records = () => proxy.log.filter((line) => line['msg'] === 'call').map((line) => line['outcome']);
  await expect
    .poll(() => records().slice(before))
    .toEqual(Array.from({ length: calls }, () => 'caller_left'));
  await expect
    .poll(async () => (await fetch(`${proxy.url}/metrics`)).text())
    .toContain('\nerp_proxy_requests_in_flight 0\n');
}
