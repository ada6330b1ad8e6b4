/**
 * Reads the head of a plain request from the first bytes that come of it: what most clients send, and what can be understood
 * in one way only. It does not stand in for Node's HTTP parser, which reads every request that is let in, but tells where a
 * request ends that is refused without it: about anything unusual it says nothing.
 */

const HEAD_END = Buffer.from('\r\n\r\n');
/** Longer ones are not plain. */
const HEAD_BYTES_MAX = 8 * 1024;
/** RFC 9112 sections 3 and 5; no line is folded, and none ends otherwise than with CR and LF. */
const HEAD = /^([A-Z]{3,7}) ([!-~]+) HTTP\/1\.1\r\n((?:[!#$%&'*+.^_`|~\w-]+:[\t -~\x80-\xff]*\r\n)+)$/;
/** What bears on where the request ends, or on what is to follow. Each of these matches in one step: a head is hostile. */
const FRAMING =
  /^(content-length|transfer-encoding|connection|proxy-connection|expect|upgrade|host):([^\r]*)\r$/gim;
/** In one notation only, and no more than is worth looking at. */
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;
const ORIGIN = /^origin:([^\r]*)\r$/gim;
const REQUEST_ID = /^x-request-id:([^\r]*)\r$/gim;

export class PlainRequest {
  readonly method: string;
  readonly path: string;
  /** Of the whole request, with its body. */
  readonly bytes: number;
  /** The client wants the connection closed after the answer. */
  readonly closes: boolean;
  readonly #headers: string;

  constructor(method: string, path: string, headers: string, { bytes, closes }: Framing) {
    this.method = method;
    this.path = path;
    this.bytes = bytes;
    this.closes = closes;
    this.#headers = headers;
  }

  get origin(): string | undefined {
    return join(this.#headers, ORIGIN);
  }

  /** `x-request-id`, as the client sent it. */
  get requestId(): string | undefined {
    return join(this.#headers, REQUEST_ID);
  }
}

/** What a header says that is there several times, as Node joins it. */
function join(headers: string, line: RegExp): string | undefined {
  const values = Array.from(headers.matchAll(line), ([, value = '']) => strip(value));
  return values.length === 0 ? undefined : values.join(', ');
}

interface Framing {
  bytes: number;
  closes: boolean;
}

/** Null where the head is not whole, or not plain. */
export function readPlainRequest(bytes: Buffer): PlainRequest | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1 || headEnd > HEAD_BYTES_MAX) return null;
  const match = HEAD.exec(bytes.toString('latin1', 0, headEnd + 2));
  if (match === null) return null;
  const [, method = '', path = '', headers = ''] = match;
  const framing = readFraming(headers, headEnd + HEAD_END.length);
  return framing === null ? null : new PlainRequest(method, path, headers, framing);
}

function readFraming(headers: string, headBytes: number): Framing | null {
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of headers.matchAll(FRAMING)) {
    const key = name.toLowerCase();
    if (found.has(key)) return null;
    found.set(key, strip(value));
  }
  const { size } = found;
  const length = found.get('content-length');
  const connection = found.get('connection')?.toLowerCase();
  const isPlain =
    found.has('host') &&
    (length === undefined || LENGTH.test(length)) &&
    (connection === undefined || connection === 'keep-alive' || connection === 'close') &&
    size === 1 + Number(length !== undefined) + Number(connection !== undefined);
  return isPlain ? { bytes: headBytes + Number(length ?? 0), closes: connection === 'close' } : null;
}

/** Without the spaces and tabs around it; other white space is part of a value. */
function strip(value: string): string {
  const isSpace = (at: number) => value[at] === ' ' || value[at] === '\t';
  let start = 0;
  let end = value.length;
  while (isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return value.slice(start, end);
}
