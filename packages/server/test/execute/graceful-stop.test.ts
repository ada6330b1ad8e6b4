/**
 * During a graceful stop, new calls get 503, running calls end within the grace time, and the others are aborted with
 * an error.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { expectWithin } from '../expect-within.ts';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { readInFlight } from '../read-in-flight.ts';
import { answerLikeOdoo, printResult, type Script } from '../scripted-upstream.ts';
import { openConnection } from '../security/connection.ts';
import { printCall, waitFor } from './expectations.ts';

let pair: Pair;
let isStopped = false;
afterEach(async () => {
  if (isStopped) await pair.upstream.close();
  else await pair.close();
  isStopped = false;
});

function stop(): Promise<void> {
  isStopped = true;
  return pair.proxy.app.stop();
}

const start = (script: Script, graceMs: number) =>
  startPair(script, { settings: { 'http.shutdownGraceMs': String(graceMs) } });

const answerLate: Script = async (socket) => {
  await sleep(400);
  answerLikeOdoo(socket, printResult('"late"'));
};

test('ends running calls, refuses new ones, and reports the stop at /readyz', async () => {
  pair = await start(answerLate, 5000);
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
  expect((await running).json.result).toBe('late');
  const before = performance.now();
  await stopping;
  expect(performance.now() - before).toBeLessThan(1000);
  expect(upstream.requests).toHaveLength(1);
});

test.each([
  ['a plain call', '/api/erp/execute'],
  ['a call of the router', '/api/erp/execute?x'],
])('closes the connection with the answer of %s that still ran, and says so', async (_name, path) => {
  pair = await start(answerLate, 5000);
  const { proxy, upstream } = pair;
  const body = printCall(upstream.url);
  const head = `host: x\r\nx-proxy-api: ${proxy.key}\r\ncontent-type: application/json\r\n`;
  const client = openConnection(
    proxy.url,
    `POST ${path} HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`,
  );
  await waitFor(() => upstream.requests.length === 1);
  const stopping = stop();
  const answer = await client.next();
  expect(JSON.parse(answer!.body.toString()).result).toBe('late');
  expect(answer?.headers['connection']).toBe('close');
  await client.closed;
  await stopping;
});

test('answers each of several pipelined calls that still ran, and closes with the last', async () => {
  pair = await start(answerLate, 5000);
  const { proxy, upstream } = pair;
  const request = (id: number) => {
    const body = printCall(upstream.url, { id: String(id), params: `[[${id}]]` });
    return `POST /api/erp/execute?x HTTP/1.1\r\nhost: x\r\nx-proxy-api: ${proxy.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const client = openConnection(proxy.url, request(1) + request(2) + request(3));
  await waitFor(() => upstream.requests.length === 3);
  const stopping = stop();
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
  pair = await start(answerLate, 20_000);
  const { proxy } = pair;
  const client = openConnection(
    proxy.url,
    `POST /api/erp/execute HTTP/1.1\r\nhost: x\r\nx-proxy-api: ep_bad\r\ncontent-type: application/json\r\n${header}\r\n\r\n`,
  );
  const timer = setInterval(() => client.socket.write(piece), 100);
  try {
    await waitFor(() => client.rest.includes('unauthorized'));
    await expect.poll(() => readInFlight(proxy.url), { timeout: 1000 }).toBe(0);
    const startedMs = performance.now();
    await stop();
    expect(performance.now() - startedMs).toBeLessThan(5000);
  } finally {
    clearInterval(timer);
    client.socket.destroy();
  }
});

test('ends a running batch, including calls that had not begun', async () => {
  pair = await startPair(answerLate, {
    settings: { 'http.shutdownGraceMs': '5000', 'batch.concurrency': '2' },
  });
  const { proxy, upstream } = pair;
  const running = proxy.call(`[${Array.from({ length: 4 }, () => printCall(upstream.url)).join(',')}]`);
  await waitFor(() => upstream.requests.length > 0);
  await stop();
  expect((await running).json.map((answer: { result: unknown }) => answer.result)).toEqual(
    Array(4).fill('late'),
  );
});

test('stops immediately if nothing runs', async () => {
  await expectWithin(500, stop, async () => {
    if (isStopped) await pair.upstream.close();
    pair = await start(answerLate, 60_000);
    await pair.proxy.post(printCall(pair.upstream.url));
  });
});

test('after the grace time, breaks off an answer in progress', async () => {
  pair = await start((socket) => {
    socket.write('HTTP/1.0 200 OK\r\n\r\n');
    socket.write(printResult(`"${'x'.repeat(50_000)}`));
  }, 1_000);
  const running = pair.proxy.post(printCall(pair.upstream.url));
  running.catch(() => {});
  await waitFor(() => pair.upstream.requests.length === 1);
  await sleep(50);
  await stop();
  await expect(running).rejects.toThrow();
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
  pair = await start(answerLate, 100);
  const client = sendHalf();
  await waitFor(async () => (await readInFlight(pair.proxy.url)) === 1);
  const before = performance.now();
  await stop();
  expect(performance.now() - before).toBeLessThan(2000);
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
  pair = await start(answerLate, 60_000);
  const socket = connect(Number(new URL(pair.proxy.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  await waitFor(() => text.includes('ok'));
  const before = performance.now();
  await stop();
  expect(performance.now() - before).toBeLessThan(1000);
  socket.destroy();
});
