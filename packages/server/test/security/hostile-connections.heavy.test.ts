/**
 * Tests that the proxy keeps serving despite too large bodies, slow clients, pipelined and incomplete requests, and
 * idle connections.
 */
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import type { ProxyOptions } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { readInFlight } from '../read-in-flight.ts';
import { answerLikeOdoo, makeCall, printResult, type Script } from '../scripted-upstream.ts';
import { printChunk } from '../stream/framing.ts';
import { ENDLESS_MS, MOMENT_MS, pause, runLater } from '../time.ts';
import { countTurns } from '../watch-turns.ts';
import { findDefect } from './answer-check.ts';
import { type Connection, openConnection, printPost } from './connection.ts';

const MIB = 1024 ** 2;

let proxy: Pair['proxy'];
let upstream: Pair['upstream'];

async function start(options: ProxyOptions = {}, script: Script = echoIds): Promise<void> {
  ({ proxy, upstream } = closeAfterTest(await startPair(script, options)));
}

/** Answers with the requested ids. The first id is the delay in milliseconds. */
const echoIds: Script = async (socket, { body }) => {
  const ids = JSON.parse(body.toString()).params.args[5][0];
  if (ids[0] > 1) await pause(ids[0]);
  answerLikeOdoo(socket, printResult(JSON.stringify(ids)));
};

function open(bytes: Uint8Array | string = ''): Connection {
  const connection = openConnection(proxy.url, bytes);
  closeAfterTest({ close: () => connection.socket.destroy() });
  return connection;
}

/** Slower than the clients that Odoo usually has. */
const SLOWLY_MS = 100;
/** A stop that waits for these limits does not end within the time of a test. */
const NO_LIMITS = {
  'upstream.timeoutMs': '300000',
  'http.requestTimeoutMs': String(ENDLESS_MS),
  'http.answerBytesPerSecondMin': '0',
};

const JSON_TYPE = 'content-type: application/json';
const keyLine = () => `x-proxy-api: ${proxy.key}`;

function printCall(ids: number[], changes: Record<string, unknown> = {}): Buffer {
  const body = JSON.stringify(makeCall(upstream.url, { params: [ids], ...changes }));
  return printPost([keyLine(), JSON_TYPE, `content-length: ${Buffer.byteLength(body)}`], body);
}

async function expectStillServing(): Promise<void> {
  const { json } = await proxy.call(makeCall(upstream.url));
  expect(json.result).toEqual([1]);
  await expect.poll(() => readInFlight(proxy.url)).toBe(0);
}

/** Writes this many bytes as fast as they are taken. Returns false if the connection ends before. */
async function pour(
  { socket }: Connection,
  bytes: number,
  wrap = (piece: Buffer) => [piece],
): Promise<boolean> {
  const piece = Buffer.alloc(MIB, ' ');
  let wake = () => {};
  socket.on('drain', () => wake());
  socket.on('close', () => wake());
  for (let sent = 0; sent < bytes; sent += piece.length) {
    for (const part of wrap(piece)) {
      if (socket.destroyed) return false;
      if (socket.write(part)) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return true;
}

test('refuses a body of 33 MiB by its content-length, and the answer reaches a client that sends all of it first', async () => {
  await start();
  const connection = open(printPost([keyLine(), JSON_TYPE, `content-length: ${33 * MIB}`]));
  await pour(connection, 33 * MIB);
  const answer = await connection.next();
  expect(answer?.status).toBe(413);
  expect(answer?.headers['connection']).toBe('close');
  expect(JSON.parse(answer!.body.toString()).error).toMatchObject({
    code: -32016,
    data: { type: 'payload_too_large' },
  });
  await connection.closed;
  await expectStillServing();
});

test.each([
  ['content-length', [`content-length: ${MIB}`], (piece: Buffer) => piece],
  ['chunks', ['transfer-encoding: chunked'], printChunk],
])('a client that sends a whole refused body slowly gets the answer: %s', async (_name, headers, wrap) => {
  await start();
  const { socket } = open();
  socket.pause();
  socket.write(printPost(['x-proxy-api: ep_bad', JSON_TYPE, ...headers]));
  for (let sent = 0; sent < MIB; sent += MIB / 16) {
    await pause(SLOWLY_MS);
    socket.write(wrap(Buffer.alloc(MIB / 16)));
    // The refused request occupies no place in a limit.
    if (sent >= MIB / 4) expect(await readInFlight(proxy.url)).toBe(0);
  }
  expect(socket.errored).toBeNull();
  const received = buffer(socket);
  socket.resume();
  if (headers[0]!.startsWith('transfer')) socket.write('0\r\n\r\n');
  expect((await received).toString()).toMatch(/^HTTP\/1.1 401 .*"type":"unauthorized"/s);
});

test('refuses a body without content-length once it is too large, and frees its memory', async () => {
  await start({ settings: { 'http.bodyBytesMax': String(4 * MIB) } });
  const connection = open(printPost([keyLine(), JSON_TYPE, 'transfer-encoding: chunked']));
  const pouring = pour(connection, Number.POSITIVE_INFINITY, (piece) => [printChunk(piece)]);
  const answer = await connection.next();
  expect(answer?.status).toBe(413);
  await connection.closed;
  connection.socket.destroy();
  expect(await pouring).toBe(false);
  await expectStillServing();
});

test('accepts a body of exactly the maximum size, whatever its framing', async () => {
  await start({ settings: { 'http.bodyBytesMax': '2000' } });
  const call = JSON.stringify(makeCall(upstream.url)).padEnd(2000);
  expect((await proxy.post(call)).status).toBe(200);
  expect((await proxy.post(`${call} `)).status).toBe(413);
  const chunked = (text: string) => Buffer.concat([printChunk(Buffer.from(text)), Buffer.from('0\r\n\r\n')]);
  const ask = async (text: string) =>
    (await open(printPost([keyLine(), JSON_TYPE, 'transfer-encoding: chunked'], chunked(text))).next())
      ?.status;
  expect(await ask(call)).toBe(200);
  expect(await ask(`${call} `)).toBe(413);
});

test.each(['/api/erp/execute', '/nowhere', '/%'])(
  'serves nothing after a message of HTTP/1.0 with transfer-encoding: %s',
  async (path) => {
    await start();
    const call = Buffer.from(JSON.stringify(makeCall(upstream.url)));
    const body = Buffer.concat([printChunk(call), Buffer.from('0\r\n\r\n')]);
    const headers = [keyLine(), JSON_TYPE, 'connection: keep-alive', 'transfer-encoding: chunked'];
    const message = printPost(headers, body).toString();
    const connection = open(
      message.replace(/^POST \S+ HTTP\/1\.1/, `POST ${path} HTTP/1.0`) + printCall([1]),
    );
    const answer = await connection.next();
    expect(answer?.status).toBe(path === '/api/erp/execute' ? 200 : 404);
    expect(answer?.headers['connection']).toBe('close');
    await connection.closed;
    await expectStillServing();
    expect(upstream.requests).toHaveLength(path === '/api/erp/execute' ? 2 : 1);
  },
);

test.each([
  ['content-length', [`content-length: ${33 * MIB}`]],
  ['chunked', ['transfer-encoding: chunked']],
  ['content-length, not yet sent', [`content-length: ${33 * MIB}`, 'expect: 100-continue']],
])('refuses a bad key before the client sends its body: %s', async (_name, headers) => {
  await start();
  const connection = open(printPost(['x-proxy-api: ep_bad', JSON_TYPE, ...headers]));
  const answer = await connection.next();
  expect(answer?.status).toBe(401);
  expect(answer?.headers['connection']).toBe('close');
  connection.socket.end();
  await connection.closed;
});

test('keeps the connection if only a small body was refused unread', async () => {
  await start();
  const bad = printPost(['x-proxy-api: ep_bad', JSON_TYPE, 'content-length: 4'], 'null');
  const connection = open(Buffer.concat([bad, printCall([1])]));
  expect((await connection.next())?.status).toBe(401);
  expect((await connection.next())?.status).toBe(200);
});

test('sends 100 Continue only to a client whose key and content type are valid', async () => {
  await start();
  const body = JSON.stringify(makeCall(upstream.url));
  const headers = [`content-length: ${body.length}`, 'expect: 100-continue'];
  const good = open(printPost([keyLine(), JSON_TYPE, ...headers]));
  expect((await good.next())?.status).toBe(100);
  good.socket.write(body);
  expect((await good.next())?.status).toBe(200);
  const refused = open(printPost([keyLine(), 'content-type: text/plain', ...headers]));
  expect((await refused.next())?.status).toBe(415);
  refused.socket.end();
  await refused.closed;
});

test('ignores an unknown expectation', async () => {
  await start();
  const body = JSON.stringify(makeCall(upstream.url));
  const connection = open(
    printPost([keyLine(), JSON_TYPE, `content-length: ${body.length}`, 'expect: more'], body),
  );
  expect((await connection.next())?.status).toBe(200);
});

test('starts with any time limit of requests in milliseconds', async () => {
  // Node checks connections at an interval of a tenth of the limit, and accepts only whole milliseconds.
  await start({ settings: { 'http.requestTimeoutMs': '30001' } });
  await expectStillServing();
});

test('disconnects clients that send head or body byte by byte, and serves others meanwhile', async () => {
  await start({ settings: { 'http.requestTimeoutMs': '600' } });
  const whole = printCall([1]);
  const headEnd = whole.indexOf('\r\n\r\n') + 4;
  const slow = [0, headEnd].map((at) => {
    const connection = open(whole.subarray(0, at));
    let next = at;
    const sendNext = () => {
      if (connection.socket.destroyed) return;
      connection.socket.write(whole.subarray(next, ++next));
      runLater(SLOWLY_MS, sendNext);
    };
    runLater(SLOWLY_MS, sendNext);
    return connection;
  });
  await expectStillServingWhile(Promise.all(slow.map(({ closed }) => closed)));
  for (const connection of slow) {
    const answer = await connection.next();
    expect(answer?.status).toBe(400);
    expect(findDefect(400, answer?.headers['content-type'], answer!.body)).toBeNull();
  }
  await expectStillServing();
  expect(
    upstream.requests.map(({ body }) => body.toString()).filter((body) => body.includes('[1]')),
  ).toHaveLength(upstream.requests.length);
});

async function expectStillServingWhile(promise: Promise<unknown>): Promise<void> {
  let isRunning = true;
  void promise.then(() => {
    isRunning = false;
  });
  while (isRunning) {
    const { json } = await proxy.call(makeCall(upstream.url));
    expect(json.result).toEqual([1]);
    await pause();
  }
}

test('answers pipelined calls in order, though they end in another order', async () => {
  await start();
  const order = [300, 10, 200, 1, 100, 1];
  const connection = open(Buffer.concat(order.map((ms, id) => printCall([ms], { id }))));
  for (const [id, ms] of order.entries()) {
    const answer = await connection.next();
    expect(JSON.parse(answer!.body.toString())).toEqual({ jsonrpc: '2.0', id, result: [ms] });
  }
});

test('sends the answer of a valid call before it refuses the garbage that follows', async () => {
  await start();
  const connection = open(Buffer.concat([printCall([200]), Buffer.from('\x00garbage\r\n\r\n')]));
  runLater(MOMENT_MS, () => connection.socket.write('more garbage\r\n\r\n'));
  const first = await connection.next();
  expect(first?.status).toBe(200);
  expect(JSON.parse(first!.body.toString()).result).toEqual([200]);
  expect((await connection.next())?.status).toBe(400);
  await connection.closed;
  expect(connection.rest.length).toBe(0);
});

test('answers a flood of pipelined requests a few at a time', async () => {
  await start();
  const count = 5000;
  const connection = open();
  const turns = await countTurns(async () => {
    connection.socket.write('GET /x HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(count));
    for (let answered = 0; answered < count; answered++) expect((await connection.next())?.status).toBe(404);
  });
  expect(turns).toBeGreaterThan(count / 150);
});

test('cancels the first of pipelined calls when their client leaves, and sends no other', async () => {
  const long = printResult(`"${'x'.repeat(MIB)}"`);
  await start({}, (socket, _request, index) => {
    if (index === 1) socket.write(`HTTP/1.0 200 OK\r\n\r\n${long.slice(0, MIB / 2)}`);
    else answerLikeOdoo(socket, index === 0 ? printResult('true') : long);
  });
  await proxy.call(makeCall(upstream.url));
  const connection = open(Buffer.concat([printCall([1]), printCall([2]), printCall([3])]));
  await expect.poll(() => upstream.requests.length).toBe(2);
  await pause();
  connection.socket.destroy();
  await expect.poll(() => readInFlight(proxy.url)).toBe(0);
  await expect.poll(() => upstream.sockets.size).toBe(0);
  expect(upstream.requests).toHaveLength(2);
});

test('survives 500 incomplete requests whose clients leave', async () => {
  await start();
  const whole = printCall([1]);
  const all = Array.from({ length: 500 }, (_, index) =>
    open(whole.subarray(0, 1 + ((index * 7) % (whole.length - 1)))),
  );
  await pause();
  for (const [index, { socket }] of all.entries()) {
    if (index % 2 === 0) socket.destroy();
    else socket.end();
  }
  await expectStillServing();
  expect(upstream.requests).toHaveLength(1);
});

test('serves calls while 1,000 connections are idle', async () => {
  await start();
  const idle = Array.from({ length: 1000 }, (_, index) =>
    open(index % 2 === 0 ? '' : 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'),
  );
  await expect.poll(() => idle.filter(({ socket }) => !socket.connecting).length).toBe(1000);
  await expectStillServing();
});

test('runs 2,000 calls at once and loses none', async () => {
  await start({ settings: { 'upstream.timeoutMs': '60000' } });
  const all = Array.from({ length: 2000 }, (_, id) => open(printCall([1], { id })));
  const answers = await Promise.all(all.map((connection) => connection.next()));
  expect(answers.map((answer) => JSON.parse(answer!.body.toString()).id)).toEqual(all.map((_, id) => id));
  await expectStillServing();
});

const SMUGGLED = 'GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n';
test.each([
  ['content-length and chunked', ['content-length: 4', 'transfer-encoding: chunked']],
  ['two lengths', ['content-length: 0', `content-length: ${SMUGGLED.length}`]],
  ['two equal lengths', ['content-length: 0', 'content-length: 0']],
  ['a list of lengths', ['content-length: 0, 0']],
  ['a signed length', ['content-length: +0']],
  ['a negative length', ['content-length: -1']],
  ['an unknown coding', ['transfer-encoding: xchunked']],
  ['chunked not last', ['transfer-encoding: chunked, identity']],
  ['chunked twice', ['transfer-encoding: chunked', 'transfer-encoding: chunked']],
  ['a space before the colon', ['transfer-encoding : chunked']],
  ['a folded header', ['x: 1', ' transfer-encoding: chunked']],
  ['a bare line feed', ['x: 1\ntransfer-encoding: chunked']],
  ['a control character', ['transfer-encoding: \x0bchunked']],
])('never takes the rest of a body for a request: %s', async (_name, headers) => {
  await start();
  const connection = open(printPost([keyLine(), JSON_TYPE, ...headers], `0\r\n\r\n${SMUGGLED}`));
  const answer = await connection.next();
  expect(answer?.status).toBe(400);
  expect(findDefect(400, answer?.headers['content-type'], answer!.body)).toBeNull();
  await connection.closed;
  expect(connection.rest.toString()).toBe('');
});

test.each([
  ['a head that is too large', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['no host', 'POST /api/erp/execute HTTP/1.1\r\n\r\n'],
  ['two hosts', 'POST /api/erp/execute HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['no HTTP at all', 'hello\r\n\r\n'],
])('answers %s with an error of the error table, and closes the connection', async (_name, bytes) => {
  await start();
  const connection = open(Buffer.from(bytes, 'latin1'));
  const answer = await connection.next();
  expect(answer?.status).toBe(400);
  expect(findDefect(400, answer?.headers['content-type'], answer!.body)).toBeNull();
  await connection.closed;
  expect(connection.rest.length).toBe(0);
});

test('ignores an upgrade, and takes the path of a target in absolute form', async () => {
  await start();
  const upgrade = open(
    'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  expect((await upgrade.next())?.status).toBe(200);
  const absolute = open(`GET http://other.example/healthz HTTP/1.1\r\nhost: a\r\n\r\n`);
  expect((await absolute.next())?.status).toBe(200);
});

test('is no forward proxy: CONNECT opens no connection', async () => {
  await start();
  const connection = open(`CONNECT ${new URL(upstream.url).host} HTTP/1.1\r\nhost: a\r\n\r\n`);
  expect(await connection.next()).toBeNull();
  expect(upstream.connections()).toBe(0);
});

test.each([
  ['half a head', () => 'POST /api/erp/exec'],
  ['half a body', () => printPost([keyLine(), JSON_TYPE, 'content-length: 100'], '{')],
])('stops within the grace time although a client has sent only %s', async (_name, print) => {
  await start({ settings: { ...NO_LIMITS, 'http.shutdownGraceMs': '200' } });
  const connection = open(print());
  await pause();
  await proxy.close();
  await connection.closed;
});

test('stops although a client does not read its answer', async () => {
  await start({ settings: { ...NO_LIMITS, 'http.shutdownGraceMs': '200' } }, (socket) =>
    answerLikeOdoo(socket, printResult(`"${'x'.repeat(16 * MIB)}"`)),
  );
  const connection = open(printCall([1]));
  connection.socket.pause();
  await expect.poll(() => upstream.requests.length).toBe(1);
  await pause();
  await proxy.close();
});

test('answers a body that is incomplete at the end of the grace time with not_sent', async () => {
  await start({ settings: { 'http.shutdownGraceMs': '200' } });
  const connection = open(printPost([keyLine(), JSON_TYPE, 'content-length: 100'], '{'));
  await expect.poll(() => readInFlight(proxy.url)).toBe(1);
  const stopping = proxy.close();
  const answer = await connection.next();
  await stopping;
  expect(answer?.status).toBe(503);
  expect(JSON.parse(answer!.body.toString()).error.data).toEqual({
    type: 'overloaded',
    retryable: true,
    outcome: 'not_sent',
  });
});
