/** Parses answers from the bytes on the wire, for tests on plain sockets that check what an HTTP library hides. */
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';

export interface TakenAnswer {
  status: number;
  headers: Record<string, string>;
  /** The body without the framing of HTTP, still encoded. */
  body: Buffer;
  /** True if the framing says that the body has ended. Never true if the body ends with the connection. */
  isWhole: boolean;
  /** The bytes after the answer. */
  rest: Buffer;
}

/** Parses the first answer; null if its header is incomplete. */
export function takeAnswer(bytes: Buffer): TakenAnswer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(' ')[1]);
  const after = bytes.subarray(headEnd + 4);
  // Answers with these statuses have no body, whatever their headers say (RFC 9112 section 6.3).
  if (status === 204 || status === 304)
    return { status, headers, body: Buffer.alloc(0), isWhole: true, rest: after };
  const length = headers['content-length'];
  if (length !== undefined) {
    const body = after.subarray(0, Number(length));
    const isWhole = body.length === Number(length);
    return { status, headers, body, isWhole, rest: after.subarray(body.length) };
  }
  if (headers['transfer-encoding'] === 'chunked') return { status, headers, ...takeChunks(after) };
  return { status, headers, body: after, isWhole: false, rest: Buffer.alloc(0) };
}

function takeChunks(bytes: Buffer): Pick<TakenAnswer, 'body' | 'isWhole' | 'rest'> {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) break;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2;
    if (size === 0) {
      if (bytes.length < at + 2) break;
      return { body: Buffer.concat(chunks), isWhole: true, rest: bytes.subarray(at + 2) };
    }
    chunks.push(bytes.subarray(at, at + size));
    if (bytes.length < at + size + 2) break;
    at += size + 2;
  }
  return { body: Buffer.concat(chunks), isWhole: false, rest: Buffer.alloc(0) };
}

/** The decoded body of a complete answer. */
export function unpack(encoding: string | undefined, body: Buffer): Buffer {
  switch (encoding) {
    case 'gzip':
      return gunzipSync(body);
    case 'deflate':
      return inflateSync(body);
    case 'br':
      return brotliDecompressSync(body);
    case 'zstd':
      return zstdDecompressSync(body);
    default:
      return body;
  }
}

/** A stream that decodes what is written to it. */
export function createDecoder(encoding: string) {
  if (encoding === 'gzip') return createGunzip();
  return encoding === 'br' ? createBrotliDecompress() : createZstdDecompress();
}
