/**
 * Decompresses the body of an answer by its content-encoding: a stream with back-pressure and a limit against
 * decompression bombs. Knows nothing of connections.
 */
import { type Duplex, pipeline, Readable } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { type ByteStream, ByteStreamError } from '@erp-proxy/async/streams';

export type Coding = 'gzip' | 'br' | 'zstd' | 'deflate';

/** The ratio applies only beyond this many decompressed bytes: small answers may compress by any ratio. */
export const UNPACKED_BYTES_FREE = 16 * 1024 * 1024;
/**
 * Records of one model compress by a ratio of 10 to 100. The maximum of gzip is 1032, of brotli and zstd above 10,000.
 */
export const EXPANSION_RATIO_MAX = 200;

/** The coding in a content-encoding header; null if it is unknown, or there are several. */
export function findCoding(header: string | string[] | undefined): Coding | 'identity' | null {
  if (header === undefined) return 'identity';
  const name = String(header).trim().toLowerCase();
  switch (name) {
    case '':
    case 'identity':
      return 'identity';
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'br':
    case 'zstd':
    case 'deflate':
      return name;
    default:
      return null;
  }
}

/** The decompressed body. */
export function decodeBody(packed: ByteStream, coding: Coding): ByteStream {
  return new DecodedBody(packed, coding);
}

class DecodedBody implements ByteStream {
  readonly #packed: ByteStream;
  readonly #coding: Coding;
  #unpacked: AsyncIterator<Uint8Array> | null = null;
  #packedBytes = 0;
  #unpackedBytes = 0;
  #error: ByteStreamError | null = null;
  #isCancelled = false;

  constructor(packed: ByteStream, coding: Coding) {
    this.#packed = packed;
    this.#coding = coding;
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#error !== null) throw this.#error;
    try {
      this.#unpacked ??= await this.#start();
      const step = this.#unpacked === null ? { done: true as const } : await this.#unpacked.next();
      if (this.#isCancelled) throw new ByteStreamError('aborted', 'the reader cancelled');
      if (step.done) return null;
      this.#count(step.value);
      return step.value;
    } catch (error) {
      this.#packed.cancel();
      this.#error =
        error instanceof ByteStreamError
          ? error
          : new ByteStreamError('broken_off', `the ${this.#coding} body is damaged or cut short`);
      throw this.#error;
    }
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#packed.cancel();
  }

  /** Null for an empty body: servers send a content-encoding with it, too. */
  async #start(): Promise<AsyncIterator<Uint8Array> | null> {
    const first = await this.#nextPacked();
    if (first === null) return null;
    const decoder = makeDecoder(this.#coding, first);
    // The decoder's iterator reports the errors of both sides.
    pipeline(Readable.from(this.#readFrom(first), { objectMode: true, highWaterMark: 1 }), decoder, () => {});
    return decoder[Symbol.asyncIterator]();
  }

  async *#readFrom(first: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let chunk: Uint8Array | null = first; chunk !== null; chunk = await this.#nextPacked()) yield chunk;
  }

  async #nextPacked(): Promise<Uint8Array | null> {
    const chunk = await this.#packed.next();
    this.#packedBytes += chunk?.length ?? 0;
    return chunk;
  }

  #count(chunk: Uint8Array): void {
    this.#unpackedBytes += chunk.length;
    if (this.#unpackedBytes <= UNPACKED_BYTES_FREE) return;
    if (this.#unpackedBytes <= this.#packedBytes * EXPANSION_RATIO_MAX) return;
    throw new ByteStreamError(
      'bomb',
      `the body decompresses to more than ${EXPANSION_RATIO_MAX} times its size`,
    );
  }
}

/** "deflate" is the zlib format (RFC 9110 section 8.4.1.2), but some servers omit the zlib header. */
function makeDecoder(coding: Coding, first: Uint8Array): Duplex {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      // RFC 9659: a window of at most 8 MiB. A few bytes could request memory for a larger one.
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } });
    case 'deflate':
      return (first[0]! & 0x0f) === 8 ? createInflate() : createInflateRaw();
  }
}
