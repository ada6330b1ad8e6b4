/** Compression of answers: negotiates the encoding (RFC 9110 section 12.5.3) and compresses. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';

export type Encoding = 'zstd' | 'br' | 'gzip' | 'deflate';

/** Minimum size of an answer to compress: a smaller one takes less time uncompressed. */
export const ENCODED_BYTES_MIN = 1024;

/** Preference among encodings to which a client gives equal weight. */
const PREFERENCE: readonly Encoding[] = ['zstd', 'br', 'gzip', 'deflate'];

/** Cached choices by header: clients send few different ones. */
const choices = new Map<string, Encoding | null>();
const CHOICES_MAX = 500;

/** The encoding of an answer for an `accept-encoding` header; null: uncompressed. */
export function chooseEncoding(header: string | undefined): Encoding | null {
  if (header === undefined || header === '') return null;
  let choice = choices.get(header);
  if (choice === undefined) {
    choice = negotiateEncoding(header, PREFERENCE);
    if (choices.size >= CHOICES_MAX) choices.clear();
    choices.set(header, choice);
  }
  return choice;
}

/** Chooses among the offered encodings, which are in order of preference; null: uncompressed. */
export function negotiateEncoding<Offered extends Encoding>(
  header: string | undefined,
  offered: readonly Offered[],
): Offered | null {
  const weights = new Map<string, number>();
  for (const part of header?.toLowerCase().split(',') ?? []) {
    const [name, ...parameters] = part.split(';').map((text) => text.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const weight = q === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 0;
    weights.set(name === 'x-gzip' ? 'gzip' : (name ?? ''), weight);
  }
  const weigh = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0;
  const [best] = offered.toSorted((a, b) => weigh(b) - weigh(a));
  if (best === undefined || weigh(best) === 0) return null;
  return weigh(best) >= (weights.get('identity') ?? 0) ? best : null;
}

const { constants } = zlib;
/** Quality 4, which prefers speed to size: the proxy is near its callers and must not become the bottleneck. */
const BROTLI_PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 4 };

const compressors = {
  gzip: promisify<zlib.InputType, Buffer>(zlib.gzip),
  br: (bytes: Uint8Array) =>
    promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)(bytes, {
      params: BROTLI_PARAMS,
    }),
  zstd: promisify<zlib.InputType, Buffer>(zlib.zstdCompress),
  // `deflate` is the zlib format (RFC 9110 section 8.4.1.2).
  deflate: promisify<zlib.InputType, Buffer>(zlib.deflate),
};

/** Compresses a whole body, off the main thread. */
export function encodeWhole(encoding: Encoding, bytes: Uint8Array): Promise<Buffer> {
  return compressors[encoding](bytes);
}

/** Creates a compressing stream that flushes after each write, so that a slow answer is not held back. */
export function createEncoder(
  encoding: Encoding,
): zlib.Gzip | zlib.BrotliCompress | zlib.ZstdCompress | zlib.Deflate {
  switch (encoding) {
    case 'gzip':
      return zlib.createGzip({ flush: constants.Z_SYNC_FLUSH });
    case 'deflate':
      return zlib.createDeflate({ flush: constants.Z_SYNC_FLUSH });
    case 'br':
      return zlib.createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params: BROTLI_PARAMS });
    case 'zstd':
      return zlib.createZstdCompress({ flush: constants.ZSTD_e_flush });
  }
}
