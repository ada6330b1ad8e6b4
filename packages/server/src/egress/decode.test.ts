/** Unpacks bodies that arrive in any pieces, whole, damaged, cut short, or as bombs. */
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ByteStream, ByteStreamError } from '../streams/byte-stream.ts';
import { type Coding, decodeBody, EXPANSION_RATIO_MAX, findCoding, UNPACKED_BYTES_FREE } from './decode.ts';

const PACKERS: [string, Coding, (bytes: Uint8Array) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['br', 'br', brotliCompressSync],
  ['zstd', 'zstd', zstdCompressSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without its header', 'deflate', deflateRawSync],
];

/** A body of the given pieces that notes how it was used. */
class Pieces implements ByteStream {
  taken = 0;
  isCancelled = false;
  readonly #pieces: Uint8Array[];
  readonly #end: ByteStreamError | null;

  constructor(pieces: Uint8Array[], end: ByteStreamError | null = null) {
    this.#pieces = pieces;
    this.#end = end;
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const piece = this.#pieces[this.taken];
    if (piece === undefined && this.#end !== null) return Promise.reject(this.#end);
    this.taken++;
    return piece ?? null;
  }

  cancel(): void {
    this.isCancelled = true;
  }
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}

async function read(body: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe.each(PACKERS)('%s', (_name, coding, pack) => {
  test('gives back what was packed, in whatever pieces it comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 2_000 }),
        fc.integer({ min: 1, max: 300 }),
        async (bytes, size) => {
          expect(await read(decodeBody(new Pieces(cut(pack(bytes), size)), coding))).toEqual(
            Buffer.from(bytes),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  test('breaks where the packed bytes end too early', async () => {
    const packed = pack(Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id })))));
    for (const length of [1, 5, packed.length >> 1, packed.length - 1]) {
      const body = new Pieces([packed.subarray(0, length)]);
      await expect(read(decodeBody(body, coding)), `${length} bytes`).rejects.toThrow(ByteStreamError);
    }
  });

  test('breaks on damaged bytes, and says so again', async () => {
    const source = new Pieces([Buffer.from([0x1f, 0xff, 0xff, 0xff, 0xfe]), Buffer.alloc(100, 0xee)]);
    const body = decodeBody(source, coding);
    await expect(read(body)).rejects.toThrow(ByteStreamError);
    expect(source.isCancelled).toBe(true);
    await expect(read(body)).rejects.toThrow(ByteStreamError);
  });

  test('passes on the break of the connection', async () => {
    const broken = new ByteStreamError('aborted', 'the caller aborted');
    const packed = pack(Buffer.alloc(50_000, 'x'));
    await expect(read(decodeBody(new Pieces([packed.subarray(0, 20)], broken), coding))).rejects.toBe(broken);
  });

  test('gives an empty body for an empty one', async () => {
    expect(await read(decodeBody(new Pieces([]), coding))).toHaveLength(0);
  });

  test('reads no more packed bytes than its reader asks for', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7919 * (i >> 7)) & 0xff));
    const source = new Pieces(cut(pack(bytes), 1_024));
    const body = decodeBody(source, coding);
    await body.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(source.taken * 1_024).toBeLessThan(300_000);
    body.cancel();
    expect(source.isCancelled).toBe(true);
    await expect(read(body)).rejects.toThrow(ByteStreamError);
  });
});

test.each(['gzip', 'br', 'zstd'] as const)('stops a bomb of %s soon after what is free', async (coding) => {
  const pack = PACKERS.find(([, name]) => name === coding)![2];
  const source = new Pieces(cut(pack(Buffer.alloc(64 * 1024 * 1024)), 16));
  const body = decodeBody(source, coding);
  let bytes = 0;
  const reading = (async () => {
    for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) bytes += chunk.length;
  })();
  await expect(reading).rejects.toMatchObject({ name: 'ByteStreamError', reason: 'bomb' });
  expect(bytes).toBeLessThanOrEqual(Math.max(UNPACKED_BYTES_FREE, source.taken * 16 * EXPANSION_RATIO_MAX));
});

test('lets an answer of one record repeated pass', async () => {
  const bytes = Buffer.from(
    '{"id": 1, "name": "Azure Interior", "active": true, "email": false}, '.repeat(100_000),
  );
  expect((await read(decodeBody(new Pieces([brotliCompressSync(bytes)]), 'br'))).equals(bytes)).toBe(true);
});

test('refuses zstd frames that ask for more memory than RFC 9659 allows', async () => {
  const packed = zstdCompressSync(Buffer.alloc(12 * 1024 * 1024, 'x'), {
    params: { [constants.ZSTD_c_windowLog]: 24 },
  });
  await expect(read(decodeBody(new Pieces([packed]), 'zstd'))).rejects.toMatchObject({
    reason: 'broken_off',
  });
});

test('knows the codings it can unpack, and no others', () => {
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
