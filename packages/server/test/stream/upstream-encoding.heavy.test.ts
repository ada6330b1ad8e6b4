/**
 * Tests that answers which a reverse proxy in front of Odoo compressed are decompressed completely, and bounded against
 * bombs.
 */
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { makeCall, printResult } from '../scripted-upstream.ts';
import { takeAnswer } from '../take-answer.ts';
import { startCaller } from './caller.ts';
import { type Framing, writeAnswer, writeEnd, writeHead, writePiece } from './framing.ts';
import { OUR_HEAD, startPair } from './pair.ts';

const COMPRESSORS: Record<string, [name: string, pack: (text: string | Uint8Array) => Buffer]> = {
  gzip: ['gzip', gzipSync],
  'x-gzip': ['x-gzip', gzipSync],
  'GZIP in upper case': ['GZIP', gzipSync],
  br: ['br', (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  zstd: ['zstd', zstdCompressSync],
  deflate: ['deflate', deflateSync],
  'deflate without the zlib header': ['deflate', deflateRawSync],
};
const FRAMINGS: Framing[] = ['length', 'chunked', 'close'];

describe.each(Object.entries(COMPRESSORS))('%s', (_, [coding, pack]) => {
  const headers = `Content-Encoding: ${coding}\r\n`;

  test.each(FRAMINGS)('is decompressed to the same bytes: %s', async (framing) => {
    const results = ['true', '[1.0, 9223372036854775808]', JSON.stringify('Größe '.repeat(200_000))];
    const { proxy, upstream } = await startPair((socket, _request, index) =>
      writeAnswer(socket, framing, pack(printResult(results[index]!)), headers),
    );
    for (const result of results) {
      const { status, body } = await proxy.post(makeCall(upstream.url));
      expect(status).toBe(200);
      expect(body.equals(Buffer.from(`${OUR_HEAD}${result}}`))).toBe(true);
    }
  });

  test.each(FRAMINGS)('cut off before anything can be decompressed is an error: %s', async (framing) => {
    const packed = pack(printResult(JSON.stringify(Array.from({ length: 300 }, (_, id) => id * 7919))));
    const { proxy, upstream } = await startPair((socket) =>
      writeAnswer(socket, framing, packed.subarray(0, 12), headers),
    );
    const { status, json } = await proxy.call(makeCall(upstream.url));
    expect(status).toBe(502);
    expect(json).toMatchObject({ error: { code: -32004, data: { outcome: 'unknown' } } });
  });

  test.each(FRAMINGS)('cut off is an error or resets the connection: %s', async (framing) => {
    const packed = pack(printResult(JSON.stringify(Array.from({ length: 300 }, (_, id) => id * 7919))));
    const { proxy, upstream } = await startPair((socket) =>
      writeAnswer(socket, framing, packed.subarray(0, packed.length - 40), headers),
    );
    const caller = startCaller(proxy, makeCall(upstream.url));
    const isWhole = (bytes: Buffer) => takeAnswer(bytes)?.isWhole === true;
    await Promise.race([caller.until(isWhole).catch(() => {}), caller.ended]);
    // It depends on timing whether the first bytes are decompressed before the end of the answer is noticed.
    if (isWhole(caller.received)) expect(takeAnswer(caller.received)?.status).toBe(502);
    else expect(await caller.ended).toBe('reset');
    caller.socket.destroy();
  });

  test('cut off in a long answer resets the connection', async () => {
    const takeFirst = Promise.withResolvers<void>();
    const packed = pack(printResult(JSON.stringify(Array.from({ length: 90_000 }, (_, id) => id * 7919))));
    const { proxy, upstream } = await startPair(async (socket) => {
      writeHead(socket, 'chunked', 0, headers);
      writePiece(socket, 'chunked', packed.subarray(0, packed.length - 60_000));
      await takeFirst.promise;
      writePiece(socket, 'chunked', packed.subarray(packed.length - 60_000, packed.length - 20));
      writeEnd(socket, 'chunked');
    });
    const caller = startCaller(proxy, makeCall(upstream.url));
    await caller.until((bytes) => (takeAnswer(bytes)?.body.length ?? 0) > 1_000);
    takeFirst.resolve();
    expect(await caller.ended).toBe('reset');
    expect(takeAnswer(caller.received)!.isWhole).toBe(false);
  });
});

test.each(['gzip', 'br', 'zstd'])('a bomb of %s resets the connection early', async (coding) => {
  const [, pack] = COMPRESSORS[coding]!;
  // 256 MiB of one letter, which compress far better than any records.
  const bomb = pack(
    Buffer.concat([Buffer.from(printResult('"').slice(0, -1)), Buffer.alloc(256 * 1024 ** 2, 'x')]),
  );
  expect(bomb.length).toBeLessThan(300_000);
  const { proxy, upstream } = await startPair((socket) =>
    writeAnswer(socket, 'length', bomb, `Content-Encoding: ${coding}\r\n`),
  );
  let taken = 0;
  const caller = startCaller(proxy, makeCall(upstream.url));
  caller.socket.removeAllListeners('data').on('data', (bytes) => {
    taken += bytes.length;
  });
  expect(await caller.ended).toBe('reset');
  expect(taken).toBeLessThan(80 * 1024 ** 2);
  await expect.poll(() => proxy.log).toMatchObject([{ outcome: 'broken_off' }]);
});

test('a bomb in a fault is read only up to the bound of answers that are read whole', async () => {
  const bomb = gzipSync(
    Buffer.concat([Buffer.from('{"jsonrpc": "2.0", "id": 1, "error": "'), Buffer.alloc(64 * 1024 ** 2, 'x')]),
  );
  const { proxy, upstream } = await startPair((socket) =>
    writeAnswer(socket, 'length', bomb, 'Content-Encoding: gzip\r\n'),
  );
  const { status, json } = await proxy.call(makeCall(upstream.url));
  expect(status).toBe(502);
  expect(json).toMatchObject({ error: { code: -32005 } });
});

test.each(['compress', 'gzip, br', 'exi', 'gzip, gzip'])(
  '%j is refused: the coding is not supported',
  async (coding) => {
    const { proxy, upstream } = await startPair((socket) =>
      writeAnswer(socket, 'length', gzipSync(printResult('true')), `Content-Encoding: ${coding}\r\n`),
    );
    const { status, json } = await proxy.call(makeCall(upstream.url));
    expect(status).toBe(502);
    expect(json).toMatchObject({ error: { code: -32005, data: { outcome: 'unknown' } } });
  },
);

test.each(['identity', ''])('%j leaves the bytes unchanged', async (coding) => {
  const { proxy, upstream } = await startPair((socket) =>
    writeAnswer(socket, 'length', printResult('true'), `Content-Encoding: ${coding}\r\n`),
  );
  expect((await proxy.post(makeCall(upstream.url))).body.toString()).toBe(`${OUR_HEAD}true}`);
});

test('bytes that are not in the coding of their header are an error', async () => {
  const { proxy, upstream } = await startPair((socket) =>
    writeAnswer(socket, 'length', printResult('true'), 'Content-Encoding: gzip\r\n'),
  );
  const { status, json } = await proxy.call(makeCall(upstream.url));
  expect(status).toBe(502);
  expect(json.error.data.outcome).toBe('unknown');
});
