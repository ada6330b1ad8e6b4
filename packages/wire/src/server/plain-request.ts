/**
 * Reads the head of a plain request: a `POST` in the form that most clients send, which can be understood in only one
 * way. Anything unusual is left to Node's parser (RFC 9112 sections 2 to 6). Pure.
 */

import { splitHeaderLines } from '@erp-proxy/text';

const HEAD_END = Buffer.from('\r\n\r\n');
/** A longer head is not plain. */
const HEAD_BYTES_MAX = 8 * 1024;
const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1\r\n/;
/** These decide where the request ends or what follows it, in ways that Node's parser must handle. */
const NOT_PLAIN = ['transfer-encoding', 'proxy-connection', 'expect', 'upgrade'];
/** Decimal without leading zeros, up to nine digits. */
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;

export class PlainRequest {
  /** The target, as the client wrote it. */
  readonly path: string;
  /** By name in lower case. No header occurs twice. */
  readonly headers: ReadonlyMap<string, string>;
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** True if the client wants the connection closed after the answer. */
  readonly closes: boolean;

  constructor(path: string, headers: ReadonlyMap<string, string>, headBytes: number) {
    this.path = path;
    this.headers = headers;
    this.headBytes = headBytes;
    this.bodyBytes = Number(headers.get('content-length') ?? 0);
    this.closes = headers.get('connection')?.toLowerCase() === 'close';
  }
}

/** Returns null if the head is incomplete or not plain. */
export function readPlainRequest(bytes: Buffer): PlainRequest | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1 || headEnd > HEAD_BYTES_MAX) return null;
  const text = bytes.toString('latin1', 0, headEnd + 2);
  const line = REQUEST_LINE.exec(text);
  if (line === null) return null;
  const headers = readHeaders(text, line[0].length);
  if (headers === null || !isPlain(headers)) return null;
  return new PlainRequest(line[1] as string, headers, headEnd + HEAD_END.length);
}

function readHeaders(text: string, start: number): Map<string, string> | null {
  const lines = splitHeaderLines(text, start);
  if (lines === null) return null;
  const headers = new Map<string, string>();
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index] as string;
    // Which one counts, or how they are joined, depends on the header.
    if (headers.has(name)) return null;
    headers.set(name, lines[index + 1] as string);
  }
  return headers;
}

function isPlain(headers: ReadonlyMap<string, string>): boolean {
  const length = headers.get('content-length');
  if (length !== undefined && !LENGTH.test(length)) return false;
  const connection = headers.get('connection')?.toLowerCase();
  if (connection !== undefined && connection !== 'keep-alive' && connection !== 'close') return false;
  return headers.has('host') && !NOT_PLAIN.some((name) => headers.has(name));
}
