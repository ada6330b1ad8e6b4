/** Tests that an answer is passed on as it arrives, and no faster than its caller reads it. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeCall } from '../scripted-upstream.ts';
import { createDecoder, takeAnswer, unpack } from '../take-answer.ts';
import { pause } from '../time.ts';
import { countTurns } from '../watch-turns.ts';
import { startCaller } from './caller.ts';
import { type Framing, printChunk, untilWritable, writeEnd, writeHead, writePiece } from './framing.ts';
import { ODOO_HEAD, OUR_HEAD, startPair } from './pair.ts';

describe.each<Framing>(['length', 'chunked', 'close'])('an answer framed by %s', (framing) => {
  test.each([
    ['its first 20 KB', 20_000, 40_000],
    ['exactly 16 KiB, the size of the read-ahead', 16 * 1024 - ODOO_HEAD.length, 40_000],
    ['the first byte of a longer answer', 1, 40_000],
  ])('gives the caller %s before the upstream continues', async (_, firstBytes, wholeBytes) => {
    const result = `"${'x'.repeat(wholeBytes - 2)}"`;
    const proceed = Promise.withResolvers<void>();
    const { proxy, upstream } = await startPair(async (socket) => {
      writeHead(socket, framing, ODOO_HEAD.length + result.length + 1);
      writePiece(socket, framing, ODOO_HEAD + result.slice(0, firstBytes));
      await proceed.promise;
      writePiece(socket, framing, `${result.slice(firstBytes)}}`);
      writeEnd(socket, framing);
    });
    const caller = startCaller(proxy, makeCall(upstream.url), { headers: { connection: 'close' } });
    await caller.until(
      (bytes) => takeAnswer(bytes)?.body.toString() === OUR_HEAD + result.slice(0, firstBytes),
    );
    proceed.resolve();
    expect(await caller.ended).toBe('closed');
    expect(takeAnswer(caller.received)).toMatchObject({ status: 200, isWhole: true });
    expect(takeAnswer(caller.received)!.body.toString()).toBe(`${OUR_HEAD}${result}}`);
  });
});

/** Time between two pieces. It is shorter than the time for which the proxy waits for the rest of a short answer. */
const SHORTER_THAN_WAIT_MS = 5;
/** Far more pieces than arrive while the proxy waits for the rest of a short answer. */
const PIECES_MAX = 400;

test('a short first piece of a chunked answer is sent soon, although further pieces keep trickling in', async () => {
  const proceed = Promise.withResolvers<void>();
  let pieces = 0;
  const { proxy, upstream } = await startPair(async (socket) => {
    writeHead(socket, 'chunked', 0);
    writePiece(socket, 'chunked', `${ODOO_HEAD}[1`);
    let isWaiting = true;
    void proceed.promise.then(() => {
      isWaiting = false;
    });
    while (isWaiting && !socket.destroyed) {
      writePiece(socket, 'chunked', ',1');
      pieces++;
      await pause(SHORTER_THAN_WAIT_MS);
    }
    writePiece(socket, 'chunked', ']}');
    writeEnd(socket, 'chunked');
  });
  const caller = startCaller(proxy, makeCall(upstream.url), { headers: { connection: 'close' } });
  await caller.until((bytes) => takeAnswer(bytes)?.body.toString().startsWith(`${OUR_HEAD}[1`) ?? false);
  proceed.resolve();
  await caller.ended;
  expect(pieces).toBeLessThan(PIECES_MAX);
  expect(takeAnswer(caller.received)!.body.toString()).toBe(`${OUR_HEAD}[1${',1'.repeat(pieces)}]}`);
});

test('an answer in chunks of a byte is passed on a few chunks at a time', async () => {
  const count = 100_000;
  const chunks = Buffer.concat([
    ...Array.from(ODOO_HEAD, (letter) => printChunk(Buffer.from(letter))),
    printChunk(Buffer.from('[')),
    Buffer.from('1\r\n1\r\n'.repeat(count)),
    printChunk(Buffer.from(']')),
    printChunk(Buffer.from('}')),
  ]);
  const { proxy, upstream } = await startPair((socket) => {
    writeHead(socket, 'chunked', 0);
    socket.write(chunks);
    writeEnd(socket, 'chunked');
  });
  const caller = startCaller(proxy, makeCall(upstream.url), { headers: { connection: 'close' } });
  const turns = await countTurns(() => caller.ended);
  expect(takeAnswer(caller.received)!.body.toString()).toBe(`${OUR_HEAD}[${'1'.repeat(count)}]}`);
  expect(turns).toBeGreaterThan(count / 2000);
});

test.each(['gzip', 'br', 'zstd'])('bytes compressed with %s are sent at once too', async (encoding) => {
  const first = `[${'1, '.repeat(10_000)}`;
  const proceed = Promise.withResolvers<void>();
  const { proxy, upstream } = await startPair(async (socket) => {
    writeHead(socket, 'chunked', 0);
    writePiece(socket, 'chunked', ODOO_HEAD + first);
    await proceed.promise;
    writePiece(socket, 'chunked', '2]}');
    writeEnd(socket, 'chunked');
  });
  const headers = { 'accept-encoding': encoding, connection: 'close' };
  const caller = startCaller(proxy, makeCall(upstream.url), { headers });
  const decoder = createDecoder(encoding);
  let unpacked = '';
  decoder.on('data', (bytes: Buffer) => {
    unpacked += bytes.toString();
  });
  await caller.until((bytes) => (takeAnswer(bytes)?.body.length ?? 0) > 0);
  let taken = 0;
  const unpackMore = () => {
    const { body } = takeAnswer(caller.received)!;
    decoder.write(body.subarray(taken));
    taken = body.length;
    return unpacked;
  };
  await expect.poll(unpackMore).toBe(OUR_HEAD + first);
  proceed.resolve();
  await caller.ended;
  const answer = takeAnswer(caller.received)!;
  expect(answer).toMatchObject({ isWhole: true, headers: { 'content-encoding': encoding } });
  expect(unpack(encoding, answer.body).toString()).toBe(`${OUR_HEAD}${first}2]}`);
  decoder.destroy();
});

describe('a caller that does not read', () => {
  const PIECE_BYTES = 64 * 1024;
  /** On a busy machine, compressing the pieces takes longer than the time that a caller may take by default. */
  const PATIENT = { settings: { 'http.answerBytesPerSecondMin': '0' } };
  /** The maximum that the kernel buffers for two connections (tcp_rmem and tcp_wmem), plus our own buffers. */
  const BYTES_MAX = 2 * (32 + 4) * 1024 ** 2 + 4 * 1024 ** 2;
  const PIECES = Math.ceil((1.1 * BYTES_MAX) / PIECE_BYTES);

  test.each([
    ['uncompressed', {}],
    ['compressed', { 'accept-encoding': 'zstd' }],
  ])('stalls the upstream, and gets the rest once it reads: %s', async (_, headers) => {
    let written = 0;
    const { proxy, upstream } = await startPair(async (socket) => {
      writeHead(socket, 'close', 0);
      writePiece(socket, 'close', `${ODOO_HEAD}"`);
      while (written < PIECES && !socket.destroyed) {
        written++;
        // Random bytes hardly compress, so the buffers fill up.
        const piece = randomBytes((PIECE_BYTES / 4) * 3).toString('base64');
        if (!socket.write(piece)) await untilWritable(socket);
      }
      socket.end('"}');
    }, PATIENT);
    const caller = startCaller(proxy, makeCall(upstream.url), {
      isPaused: true,
      headers: { connection: 'close', 'x-request-timeout': '300', ...headers },
    });
    let before = -1;
    const hasStalled = () => {
      const isSame = written > 1 && written === before;
      before = written;
      return isSame;
    };
    await expect.poll(hasStalled, { interval: 150 }).toBe(true);
    expect(written * PIECE_BYTES).toBeLessThan(BYTES_MAX);
    expect(written).toBeLessThan(PIECES);
    let taken = 0;
    caller.socket.removeAllListeners('data').on('data', (bytes) => {
      taken += bytes.length;
    });
    caller.socket.resume();
    expect(await caller.ended).toBe('closed');
    expect(written).toBe(PIECES);
    expect(taken).toBeGreaterThan(PIECES * PIECE_BYTES * 0.7);
  });
});
