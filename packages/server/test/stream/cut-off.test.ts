/**
 * Tests that if an answer of the upstream breaks off, the caller's connection is reset, and its answer never looks
 * complete.
 */
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { answerLikeOdoo, makeCall, printResult } from '../scripted-upstream.ts';
import { takeAnswer, unpack } from '../take-answer.ts';
import { MOMENT_MS, runLater } from '../time.ts';
import { type CallerOptions, startCaller } from './caller.ts';
import { type Framing, writeAnswer, writeEnd, writeHead, writePiece } from './framing.ts';
import { ODOO_HEAD, OUR_HEAD, startPair } from './pair.ts';

type Cut = (socket: Socket, framing: Framing) => void;

const CUTS: Record<string, { framings: Framing[]; cut: Cut }> = {
  'ends its connection': { framings: ['length', 'chunked', 'close'], cut: (socket) => socket.end() },
  'resets its connection': {
    framings: ['length', 'chunked', 'close'],
    cut: (socket) => socket.resetAndDestroy(),
  },
  'sends no closing brace': {
    framings: ['length', 'chunked', 'close'],
    cut(socket, framing) {
      writePiece(socket, framing, ']');
      writeEnd(socket, framing);
    },
  },
  'sends white space instead of the closing brace': {
    framings: ['length', 'chunked', 'close'],
    cut(socket, framing) {
      writePiece(socket, framing, '\n');
      writeEnd(socket, framing);
    },
  },
  'sends an invalid chunk': { framings: ['chunked'], cut: (socket) => socket.write('nonsense\r\n') },
};

const CALLERS: Record<string, CallerOptions> = {
  'HTTP/1.1': {},
  'HTTP/1.0': { version: '1.0' },
  'HTTP/1.0 that keeps the connection': { version: '1.0', headers: { connection: 'keep-alive' } },
  gzip: { headers: { 'accept-encoding': 'gzip' } },
  br: { headers: { 'accept-encoding': 'br' } },
  zstd: { headers: { 'accept-encoding': 'zstd' } },
  'gzip over HTTP/1.0': { version: '1.0', headers: { 'accept-encoding': 'gzip' } },
};

const CASES = Object.entries(CUTS).flatMap(([how, { framings, cut }]) =>
  framings.flatMap((framing) => Object.keys(CALLERS).map((kind) => ({ how, framing, kind, cut }))),
);

test.each(CASES)('$framing, upstream $how, caller $kind', async ({ how, framing, kind, cut }) => {
  const start = `${ODOO_HEAD}[${'1, '.repeat(10_000)}2`;
  const takeFirst = Promise.withResolvers<void>();
  const { proxy, upstream } = await startPair(async (socket) => {
    writeHead(socket, framing, start.length + 1);
    writePiece(socket, framing, start);
    await takeFirst.promise;
    cut(socket, framing);
  });
  const caller = startCaller(proxy, makeCall(upstream.url), CALLERS[kind]!);
  await caller.until((bytes) => (takeAnswer(bytes)?.body.length ?? 0) > 0);
  takeFirst.resolve();
  expect(await caller.ended).toBe('reset');
  const answer = takeAnswer(caller.received)!;
  expect(answer).toMatchObject({ status: 200, isWhole: false });
  const encoding = answer.headers['content-encoding'];
  expect(encoding).toBe(/gzip|br|zstd/.exec(kind)?.[0]);
  // A compressed answer cannot be decompressed completely either.
  if (encoding !== undefined) expect(() => unpack(encoding, answer.body)).toThrow();
  // If the upstream's answer was complete by its framing, its connection stays open for another call.
  if (!how.includes('brace')) await expect.poll(() => upstream.sockets.size).toBe(0);
  await expect.poll(() => proxy.log.filter((line) => line['msg'] === 'call')).toHaveLength(1);
  expect(proxy.log.find((line) => line['msg'] === 'call')).toMatchObject({ outcome: 'broken_off' });
});

test('the last piece of an answer with content-length is sent only after its closing brace was seen', async () => {
  const body = `${ODOO_HEAD}[${'1, '.repeat(10_000)}2]]`;
  const { proxy, upstream } = await startPair((socket) => answerLikeOdoo(socket, body));
  const caller = startCaller(proxy, makeCall(upstream.url), { version: '1.0' });
  expect(await caller.ended).toBe('reset');
  expect(takeAnswer(caller.received)?.isWhole ?? false).toBe(false);
});

test('a connection that has served complete answers before is reset as well', async () => {
  const takeFirst = Promise.withResolvers<void>();
  const { proxy, upstream } = await startPair(async (socket, _request, index) => {
    if (index < 2) return writeAnswer(socket, 'length', printResult(`"${'x'.repeat(20_000)}"`));
    writeHead(socket, 'chunked', 0);
    writePiece(socket, 'chunked', `${ODOO_HEAD}"${'x'.repeat(20_000)}`);
    await takeFirst.promise;
    socket.destroy();
  });
  const caller = startCaller(proxy, makeCall(upstream.url));
  let length = 0;
  for (let round = 1; round <= 2; round++) {
    await caller.until((bytes) => countWhole(bytes) === round);
    ({ length } = caller.received);
    caller.send(makeCall(upstream.url));
  }
  await caller.until((bytes) => bytes.length > length);
  takeFirst.resolve();
  expect(await caller.ended).toBe('reset');
  expect(countWhole(caller.received)).toBe(2);
});

function countWhole(bytes: Buffer): number {
  const answer = takeAnswer(bytes);
  return answer?.isWhole ? 1 + countWhole(answer.rest) : 0;
}

describe('an answer that breaks off within its first 16 KiB', () => {
  test.each<[string, Framing, Cut]>([
    ['a body shorter than its Content-Length', 'length', (socket) => socket.end()],
    ['a reset before the Content-Length is reached', 'length', (socket) => socket.resetAndDestroy()],
    ['no last chunk', 'chunked', (socket) => socket.end()],
    ['a reset between chunks', 'chunked', (socket) => socket.resetAndDestroy()],
    [
      'a reset of an answer delimited by the end of its connection',
      'close',
      (socket) => socket.resetAndDestroy(),
    ],
  ])('is an error: %s', async (_, framing, cut) => {
    const { proxy, upstream } = await startPair((socket) => {
      writeHead(socket, framing, 200);
      writePiece(socket, framing, `${ODOO_HEAD}[1, 2`);
      runLater(MOMENT_MS, () => cut(socket, framing));
    });
    const { status, json } = await proxy.call(makeCall(upstream.url, { action: 'create', params: [{}] }));
    expect(status).toBe(502);
    expect(json).toMatchObject({
      id: 1,
      error: { code: -32004, data: { type: 'upstream_unreachable', retryable: false, outcome: 'unknown' } },
    });
  });

  test.each<[string, Framing, string]>([
    ['no closing brace', 'length', `${ODOO_HEAD}[1, 2]`],
    ['no closing brace', 'chunked', `${ODOO_HEAD}[1, 2]`],
    ['no closing brace', 'close', `${ODOO_HEAD}[1, 2]`],
    ['an incomplete value', 'close', `${ODOO_HEAD}[1, 2`],
    ['a number that is not JSON', 'length', `${ODOO_HEAD}[NaN]}`],
    ['a number that is not JSON', 'chunked', `${ODOO_HEAD}{"a": -Infinity}}`],
    ['bytes after its end', 'length', `${ODOO_HEAD}[1]}}`],
    ['an empty body', 'length', ''],
    ['an empty body', 'chunked', ''],
    ['an empty body', 'close', ''],
  ])('is an error: %s (%s)', async (_, framing, body) => {
    const { proxy, upstream } = await startPair((socket) => {
      writeHead(socket, framing, body.length);
      if (body !== '') writePiece(socket, framing, body);
      writeEnd(socket, framing);
    });
    const { status, json } = await proxy.call(makeCall(upstream.url));
    expect(status).toBe(502);
    expect(json).toMatchObject({ error: { code: -32005, data: { outcome: 'unknown', retryable: false } } });
  });
});

test('beyond 16 KiB the result is passed on unchecked', async () => {
  const result = `[${'None,'.repeat(6_000)}]`;
  const { proxy, upstream } = await startPair((socket) => answerLikeOdoo(socket, printResult(result)));
  expect((await proxy.post(makeCall(upstream.url))).body.toString()).toBe(`${OUR_HEAD}${result}}`);
});

describe('a batch', () => {
  test('is reset if an answer breaks off while it is being passed on', async () => {
    const takeFirst = Promise.withResolvers<void>();
    const { proxy, upstream } = await startPair(async (socket, request) => {
      if (!request.body.includes('"broken"')) return answerLikeOdoo(socket, printResult('true'));
      writeHead(socket, 'chunked', 0);
      writePiece(socket, 'chunked', `${ODOO_HEAD}"${'x'.repeat(20_000)}`);
      await takeFirst.promise;
      socket.end();
    });
    const caller = startCaller(proxy, [
      makeCall(upstream.url),
      makeCall(upstream.url, { model_id: 'broken' }),
      makeCall(upstream.url),
    ]);
    await caller.until((bytes) => bytes.includes('xxxx'));
    takeFirst.resolve();
    expect(await caller.ended).toBe('reset');
    expect(takeAnswer(caller.received)!.isWhole).toBe(false);
  });

  test('has an error for a call whose answer broke off before it was passed on', async () => {
    const letFirstGo = Promise.withResolvers<void>();
    const { proxy, upstream } = await startPair(async (socket, request) => {
      if (!request.body.includes('"broken"')) {
        await letFirstGo.promise;
        return answerLikeOdoo(socket, printResult('true'));
      }
      writeHead(socket, 'chunked', 0);
      writePiece(socket, 'chunked', `${ODOO_HEAD}"${'x'.repeat(20_000)}`);
      runLater(MOMENT_MS, () => socket.end());
      socket.on('close', () => letFirstGo.resolve());
    });
    const { json } = await proxy.call([
      makeCall(upstream.url),
      makeCall(upstream.url, { id: 2, model_id: 'broken' }),
      makeCall(upstream.url, { id: 3 }),
    ]);
    expect(json).toMatchObject([
      { id: 1, result: true },
      { id: 2, error: { code: -32004, data: { outcome: 'unknown' } } },
      { id: 3, result: true },
    ]);
  });
});
