/** Decompresses bodies in any pieces: whole, damaged, truncated, or as bombs. */
import { randomBytes } from 'node:crypto';
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { ByteStreamError, readStream } from '@erp-proxy/async/streams';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ScriptedStream } from '../../../async/test/scripted-stream.ts';
import { countCases } from '../../../server/test/random-cases.ts';
import { pause } from '../../../server/test/time.ts';
import { type Coding, decodeBody, EXPANSION_RATIO_MAX, findCoding, UNPACKED_BYTES_FREE } from './decode.ts';

/** The best quality, which is the default, takes a second for a megabyte. */
function packBrotli(bytes: Uint8Array): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

const PACKERS: [string, Coding, (bytes: Uint8Array) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['br', 'br', packBrotli],
  ['zstd', 'zstd', zstdCompressSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without its header', 'deflate', deflateRawSync],
];

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}

describe.each(PACKERS)('%s', (_name, coding, pack) => {
  test('restores the original bytes, however the compressed ones are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 2_000 }),
        fc.integer({ min: 1, max: 300 }),
        async (bytes, size) => {
          expect(
            await readStream(decodeBody(new ScriptedStream(...cut(pack(bytes), size), null), coding)),
          ).toEqual(Buffer.from(bytes));
        },
      ),
      { numRuns: countCases(20) },
    );
  });

  test('breaks off if the compressed bytes end too early', async () => {
    const packed = pack(Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id })))));
    for (const length of [1, 5, packed.length >> 1, packed.length - 1]) {
      const body = new ScriptedStream(packed.subarray(0, length), null);
      await expect(readStream(decodeBody(body, coding)), `${length} bytes`).rejects.toThrow(ByteStreamError);
    }
  });

  test('breaks off at damaged bytes, and repeats the error', async () => {
    const source = new ScriptedStream(
      Buffer.from([0x1f, 0xff, 0xff, 0xff, 0xfe]),
      Buffer.alloc(100, 0xee),
      null,
    );
    const body = decodeBody(source, coding);
    await expect(readStream(body)).rejects.toThrow(ByteStreamError);
    expect(source.isCancelled).toBe(true);
    await expect(readStream(body)).rejects.toThrow(ByteStreamError);
  });

  test('passes on an error of the connection', async () => {
    const broken = new ByteStreamError('aborted', 'the caller aborted');
    const packed = pack(Buffer.alloc(50_000, 'x'));
    const source = new ScriptedStream(packed.subarray(0, 20));
    source.give(broken);
    await expect(readStream(decodeBody(source, coding))).rejects.toBe(broken);
  });

  test('decodes an empty body as an empty body', async () => {
    expect(await readStream(decodeBody(new ScriptedStream(null), coding))).toHaveLength(0);
  });

  test('reads no more compressed bytes than its reader needs', async () => {
    const bytes = randomBytes(1_000_000);
    const source = new ScriptedStream(...cut(pack(bytes), 1_024), null);
    const body = decodeBody(source, coding);
    await body.next();
    await pause();
    expect(source.readCount * 1_024).toBeLessThan(300_000);
    body.cancel();
    expect(source.isCancelled).toBe(true);
    await expect(readStream(body)).rejects.toThrow(ByteStreamError);
  });
});

test.each(['gzip', 'br', 'zstd'] as const)('stops a %s bomb soon after the ratio applies', async (coding) => {
  const pack = PACKERS.find(([, name]) => name === coding)![2];
  const source = new ScriptedStream(...cut(pack(Buffer.alloc(2 * UNPACKED_BYTES_FREE)), 16), null);
  const body = decodeBody(source, coding);
  let bytes = 0;
  const reading = (async () => {
    for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) bytes += chunk.length;
  })();
  await expect(reading).rejects.toMatchObject({ name: 'ByteStreamError', reason: 'bomb' });
  expect(bytes).toBeLessThanOrEqual(
    Math.max(UNPACKED_BYTES_FREE, source.readCount * 16 * EXPANSION_RATIO_MAX),
  );
});

test('accepts an answer that repeats one record', async () => {
  const bytes = Buffer.from(
    '{"id": 1, "name": "Azure Interior", "active": true, "email": false}, '.repeat(100_000),
  );
  expect(
    (await readStream(decodeBody(new ScriptedStream(packBrotli(bytes), null), 'br'))).equals(bytes),
  ).toBe(true);
});

test('refuses zstd frames that need more memory than RFC 9659 allows', async () => {
  const packed = zstdCompressSync(Buffer.alloc(12 * 1024 * 1024, 'x'), {
    params: { [constants.ZSTD_c_windowLog]: 24 },
  });
  await expect(readStream(decodeBody(new ScriptedStream(packed, null), 'zstd'))).rejects.toMatchObject({
    reason: 'broken_off',
  });
});

test('knows the codings that it can decompress, and no others', () => {
  expect(findCoding(undefined)).toBe('identity');
  expect(findCoding('')).toBe('identity');
  expect(findCoding('Identity')).toBe('identity');
  expect(findCoding('x-gzip')).toBe('gzip');
  expect(findCoding(' GZIP ')).toBe('gzip');
  expect(findCoding('zstd')).toBe('zstd');
  for (const other of ['compress', 'gzip, br', ['gzip', 'br'], 'aws-chunked', 'constructor']) {
    expect(findCoding(other)).toBeNull();
  }
});
