/**
 * Tests that over json2 a result is passed on as it arrives, byte for byte, and a truncated result never counts as
 * complete.
 */
import type { Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Script } from '../scripted-upstream.ts';
import { makeCall } from '../scripted-upstream.ts';
import { startCaller } from '../stream/caller.ts';
import { type Framing, writeAnswer, writeEnd, writeHead, writePiece } from '../stream/framing.ts';
import { OUR_HEAD, startPair } from '../stream/pair.ts';
import { takeAnswer } from '../take-answer.ts';

const settings = { 'upstream.protocol': 'json2' };
const FRAMINGS: Framing[] = ['length', 'chunked', 'close'];

/** Answers the request for the user, and leaves all other requests to the test. */
const afterQuestion =
  (answer: (socket: Socket) => void | Promise<void>): Script =>
  (socket, { head }) =>
    head.includes('/context_get ') ? writeAnswer(socket, 'length', '{"uid": 2}') : answer(socket);

const startJson2 = (answer: (socket: Socket) => void | Promise<void>) =>
  startPair(afterQuestion(answer), { settings });

const LARGE = `[${Array.from({ length: 9_000 }, (_, id) => `{"id": ${id}, "x": 1.0, "n": 9007199254740993, "é": "ö"}`).join(', ')}]`;

/** Sends the first 100,000 bytes of LARGE, waits for `release`, and continues with `finish`. */
async function startHalfway(framing: Framing, finish: (socket: Socket, rest: Uint8Array) => void) {
  const released = Promise.withResolvers<void>();
  const { proxy, upstream } = await startJson2(async (socket) => {
    const bytes = Buffer.from(LARGE);
    writeHead(socket, framing, bytes.length);
    writePiece(socket, framing, bytes.subarray(0, 100_000));
    await released.promise;
    finish(socket, bytes.subarray(100_000));
  });
  return { proxy, upstream, release: released.resolve };
}

describe.each(FRAMINGS)('an answer delimited by %s', (framing) => {
  test.each([
    ['large', LARGE],
    ['a large text', JSON.stringify('Größe '.repeat(20_000))],
    ['null', 'null'],
    ['a number with its point', '1.0'],
    ['false', 'false'],
    ['an empty list', '[]'],
    ['with a member called error', '{"error": {"code": 1}, "name": "x.Y", "message": "m"}'],
  ])('keeps its bytes: %s', async (_, value) => {
    const { proxy, upstream } = await startJson2((socket) => writeAnswer(socket, framing, value));
    const { status, body } = await proxy.post(makeCall(upstream.url));
    expect(status).toBe(200);
    expect(body.equals(Buffer.from(`${OUR_HEAD}${value}}`))).toBe(true);
  });

  test('begins to arrive before it has ended', async () => {
    const { proxy, upstream, release } = await startHalfway(framing, (socket, rest) => {
      writePiece(socket, framing, rest);
      writeEnd(socket, framing);
    });
    const caller = startCaller(proxy, makeCall(upstream.url), { headers: { connection: 'close' } });
    await caller.until((bytes) => (takeAnswer(bytes)?.body.length ?? 0) > 90_000);
    release();
    await caller.ended;
    const answer = takeAnswer(caller.received)!;
    expect(answer.isWhole).toBe(true);
    expect(answer.body.toString()).toBe(`${OUR_HEAD}${LARGE}}`);
    expect(answer.headers['server-timing']).toContain('desc="json2"');
  });

  test('is broken off if the answer is truncated', async () => {
    const { proxy, upstream, release } = await startHalfway(framing, (socket) => socket.end());
    const caller = startCaller(proxy, makeCall(upstream.url));
    await caller.until((bytes) => (takeAnswer(bytes)?.body.length ?? 0) > 90_000);
    release();
    expect(await caller.ended).toBe('reset');
    expect(takeAnswer(caller.received)!.isWhole).toBe(false);
  });
});

test.each(['[1, 2', '[1, 2]]', '{"a": NaN}', 'nul', '', '1 2'])(
  'a short answer that is not a value is an error: %j',
  async (value) => {
    for (const framing of FRAMINGS) {
      const { proxy, upstream } = await startJson2((socket) => writeAnswer(socket, framing, value));
      const { status, json } = await proxy.call(makeCall(upstream.url));
      expect(status).toBe(502);
      expect(json).toMatchObject({ error: { data: { outcome: 'unknown' } } });
    }
  },
);

test('a large answer with the right length and a wrong end is broken off', async () => {
  const { proxy, upstream } = await startJson2((socket) =>
    writeAnswer(socket, 'length', `${LARGE.slice(0, -1)} `),
  );
  const caller = startCaller(proxy, makeCall(upstream.url));
  expect(await caller.ended).toBe('reset');
  expect(takeAnswer(caller.received)!.isWhole).toBe(false);
});

test.each(FRAMINGS)('a large answer that cannot be a value is an error: %s', async (framing) => {
  const text = `<html>${'x'.repeat(30_000)}</html>`;
  const { proxy, upstream } = await startJson2((socket) => writeAnswer(socket, framing, text));
  const { status, json } = await proxy.call(makeCall(upstream.url));
  expect(status).toBe(502);
  expect(json).toMatchObject({ error: { data: { outcome: 'unknown' } } });
});

describe.each([
  ['gzip', gzipSync],
  ['br', (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ['zstd', (text: string) => zstdCompressSync(text)],
] as const)('packed by %s', (coding, pack) => {
  const headers = `Content-Encoding: ${coding}\r\n`;

  test('is decoded to the same bytes', async () => {
    for (const value of ['null', LARGE]) {
      const { proxy, upstream } = await startJson2((socket) =>
        writeAnswer(socket, 'length', pack(value), headers),
      );
      expect((await proxy.post(makeCall(upstream.url))).body.toString()).toBe(`${OUR_HEAD}${value}}`);
    }
  });

  test('is an error, or broken off, if it is truncated', async () => {
    const packed = pack(LARGE);
    const { proxy, upstream } = await startJson2((socket) =>
      writeAnswer(socket, 'length', packed.subarray(0, packed.length - 40), headers),
    );
    const outcome = await proxy.call(makeCall(upstream.url)).catch(() => 'broken off');
    if (outcome !== 'broken off') expect(outcome).toMatchObject({ json: { error: { code: -32004 } } });
  });
});

describe('create of one record', () => {
  const create = (url: string) => makeCall(url, { action: 'create', params: [{ name: 'x' }] });

  test.each(FRAMINGS)('returns a number: %s', async (framing) => {
    const { proxy, upstream } = await startJson2((socket) =>
      writeAnswer(socket, framing, '[ 9007199254740993 ]'),
    );
    const { body } = await proxy.post(create(upstream.url));
    expect(body.toString()).toBe(`${OUR_HEAD}9007199254740993}`);
  });

  test.each(['[1, 2]', '7', 'null', '[[1]]', '["1"]', '[1'])(
    'that returns %s may have been created, and is not sent again',
    async (value) => {
      const { proxy, upstream } = await startJson2((socket) => writeAnswer(socket, 'length', value));
      const { json } = await proxy.call(create(upstream.url));
      expect(json).toMatchObject({ error: { code: -32005, data: { outcome: 'unknown', retryable: false } } });
      expect(upstream.requests.filter(({ head }) => head.includes('/create '))).toHaveLength(1);
    },
  );

  test('of two returns a list', async () => {
    const { proxy, upstream } = await startJson2((socket) => writeAnswer(socket, 'length', '[1, 2]'));
    const call = makeCall(upstream.url, { action: 'create', params: [[{ name: 'x' }, { name: 'y' }]] });
    expect((await proxy.post(call)).body.toString()).toBe(`${OUR_HEAD}[1, 2]}`);
  });
});

test('in a batch keeps the order of answers over both protocols', async () => {
  const { proxy, upstream } = await startJson2((socket) => writeAnswer(socket, 'chunked', LARGE));
  const { body } = await proxy.post([makeCall(upstream.url), makeCall(upstream.url, { id: 2 })]);
  const [first, second] = JSON.parse(body.toString());
  expect([first.id, first.result.length, second.id, second.result.length]).toEqual([1, 9_000, 2, 9_000]);
});
