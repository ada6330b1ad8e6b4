/**
 * Tests a graceful stop: new calls get 503, running calls end within the grace time, and calls that take longer are
 * aborted with an error.
 */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { readInFlight } from '../read-in-flight.ts';
import { answerLikeOdoo, printResult, type Script } from '../scripted-upstream.ts';
import { openConnection } from '../security/connection.ts';
import { startCaller } from '../stream/caller.ts';
import { ENDLESS_MS, pause } from '../time.ts';
import { printCall, waitFor } from './expectations.ts';

let pair: Pair;
let isStopped = false;
afterEach(async () => {
  // Ends running calls, for which a stop would wait.
  await Promise.all([pair.upstream.close(), isStopped || pair.proxy.close()]);
  isStopped = false;
});

function stop(): Promise<void> {
  isStopped = true;
  return pair.proxy.app.stop();
}

const start = (script: Script, graceMs: number) =>
  startPair(script, { settings: { 'http.shutdownGraceMs': String(graceMs) } });

let letGo = () => {};

/** Starts a pair whose server answers when the test says so. */
function startLate(graceMs: number, settings: Record<string, string> = {}): Promise<Pair> {
  const released = Promise.withResolvers<void>();
  letGo = released.resolve;
  const answerLate: Script = async (socket) => {
    await released.promise;
    answerLikeOdoo(socket, printResult('"late"'));
  };
  return startPair(answerLate, { settings: { 'http.shutdownGraceMs': String(graceMs), ...settings } });
}

test('ends running calls, refuses new ones, and reports the stop at /readyz', async () => {
  pair = await startLate(ENDLESS_MS);
  const { proxy, upstream } = pair;
  expect((await send(`${proxy.url}/readyz`)).status).toBe(200);
  const running = proxy.call(printCall(upstream.url));
  await waitFor(() => upstream.requests.length === 1);
  const stopping = stop();
  const [ready, alive, late] = await Promise.all([
    send(`${proxy.url}/readyz`),
    send(`${proxy.url}/healthz`),
    proxy.call(printCall(upstream.url)),
  ]);
  expect(ready.status).toBe(503);
  expect(JSON.parse(ready.body.toString())).toMatchObject({
    status: 'not_ready',
    checks: { traffic: 'shutting down' },
  });
  expect(alive.status).toBe(200);
  expect(late.status).toBe(503);
  letGo();
  expect((await running).json.result).toBe('late');
  await stopping;
  expect(upstream.requests).toHaveLength(1);
});

test.each([
  ['a plain call', '/api/erp/execute'],
  ['a call of the router', '/api/erp/execute?x'],
])('closes the connection with the answer of %s that still ran, and says so', async (_name, path) => {
  pair = await startLate(ENDLESS_MS);
  const { proxy, upstream } = pair;
  const body = printCall(upstream.url);
  const head = `host: x\r\nx-proxy-api: ${proxy.key}\r\ncontent-type: application/json\r\n`;
  const client = openConnection(
    proxy.url,
    `POST ${path} HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`,
  );
  await waitFor(() => upstream.requests.length === 1);
  const stopping = stop();
  letGo();
  const answer = await client.next();
  expect(JSON.parse(answer!.body.toString()).result).toBe('late');
  expect(answer?.headers['connection']).toBe('close');
  await client.closed;
  await stopping;
});

test('answers each of several pipelined calls that still ran, and closes with the last', async () => {
  pair = await startLate(ENDLESS_MS);
  const { proxy, upstream } = pair;
  const request = (id: number) => {
    const body = printCall(upstream.url, { id: String(id), params: `[[${id}]]` });
    return `POST /api/erp/execute?x HTTP/1.1\r\nhost: x\r\nx-proxy-api: ${proxy.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const client = openConnection(proxy.url, request(1) + request(2) + request(3));
  await waitFor(() => upstream.requests.length === 3);
  const stopping = stop();
  letGo();
  for (const id of [1, 2, 3]) {
    const answer = await client.next();
    expect(JSON.parse(answer!.body.toString())).toMatchObject({ id, result: 'late' });
    expect(answer?.headers['connection']).toBe(id === 3 ? 'close' : 'keep-alive');
  }
  await client.closed;
  await stopping;
});

test.each([
  ['content-length: 1000000', 'x'],
  ['transfer-encoding: chunked', '1\r\nx\r\n'],
])('does not wait for a client that goes on sending a refused body: %s', async (header, piece) => {
  pair = await startLate(ENDLESS_MS, { 'http.requestTimeoutMs': String(ENDLESS_MS) });
  const { proxy } = pair;
  const client = openConnection(
    proxy.url,
    `POST /api/erp/execute HTTP/1.1\r\nhost: x\r\nx-proxy-api: ep_bad\r\ncontent-type: application/json\r\n${header}\r\n\r\n`,
  );
  const sending = (async () => {
    for (; !client.socket.destroyed; await pause()) client.socket.write(piece);
  })();
  try {
    await waitFor(() => client.rest.includes('unauthorized'));
    await expect.poll(() => readInFlight(proxy.url)).toBe(0);
    await stop();
  } finally {
    client.socket.destroy();
    await sending;
  }
});

test('ends a running batch, including calls that had not begun', async () => {
  pair = await startLate(ENDLESS_MS, { 'batch.concurrency': '2' });
  const { proxy, upstream } = pair;
  const running = proxy.call(`[${Array.from({ length: 4 }, () => printCall(upstream.url)).join(',')}]`);
  await waitFor(() => upstream.requests.length > 0);
  const stopping = stop();
  letGo();
  await stopping;
  expect((await running).json.map((answer: { result: unknown }) => answer.result)).toEqual(
    Array(4).fill('late'),
  );
});

/** Spies on the function that closes connections which are still open a second after the end of the last request. */
const spyOnCutOff = () => vi.spyOn(pair.proxy.app.server.server, 'closeAllConnections');

test('stops immediately if nothing runs', async () => {
  pair = await startLate(ENDLESS_MS);
  letGo();
  await pair.proxy.post(printCall(pair.upstream.url));
  const cutOff = spyOnCutOff();
  await stop();
  expect(cutOff).not.toHaveBeenCalled();
});

/** A grace time that is too short for the call to end. */
const SHORT_MS = 100;

test('after the grace time, breaks off an answer in progress', async () => {
  pair = await start((socket) => {
    socket.write('HTTP/1.0 200 OK\r\n\r\n');
    socket.write(printResult(`"${'x'.repeat(50_000)}`));
  }, SHORT_MS);
  const caller = startCaller(pair.proxy, printCall(pair.upstream.url));
  await caller.until((received) => received.includes('xxx'));
  await stop();
  expect(await caller.ended).toBe('reset');
  expect(pair.proxy.log.find((line) => line['msg'] === 'call')).toMatchObject({ outcome: 'shutdown' });
  await waitFor(() => pair.upstream.sockets.size === 0);
});

/** A client that has sent all of a request except its last byte, on a persistent connection. */
function sendHalf(): { socket: Socket; read: () => string } {
  const body = printCall(pair.upstream.url);
  const socket = connect(Number(new URL(pair.proxy.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.on('error', () => {});
  socket.write(
    `POST /api/erp/execute HTTP/1.1\r\nhost: x\r\nx-proxy-api: ${pair.proxy.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
  );
  return { socket, read: () => text };
}

test('after the grace time, does not wait for a client that is still sending', async () => {
  pair = await startLate(SHORT_MS, { 'http.requestTimeoutMs': String(ENDLESS_MS) });
  const client = sendHalf();
  await waitFor(async () => (await readInFlight(pair.proxy.url)) === 1);
  await stop();
  await waitFor(() => client.read().includes('\r\n\r\n'));
  expect(client.read()).toMatch(/^HTTP\/1.1 503 /);
  expect(JSON.parse(client.read().split('\r\n\r\n')[1] as string)).toMatchObject({
    id: null,
    error: { code: -32013, data: { type: 'overloaded', retryable: true, outcome: 'not_sent' } },
  });
  expect(pair.upstream.connections()).toBe(0);
  client.socket.destroy();
});

test('does not wait for idle connections', async () => {
  pair = await startLate(ENDLESS_MS);
  const socket = connect(Number(new URL(pair.proxy.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  await waitFor(() => text.includes('ok'));
  const cutOff = spyOnCutOff();
  await stop();
  expect(cutOff).not.toHaveBeenCalled();
  socket.destroy();
});
