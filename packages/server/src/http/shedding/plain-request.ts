/**
 * Reads the head of a plain request: one in the form that most clients send, which can be understood in only one way.
 * It finds the end of a request that is refused without Node's HTTP parser, and rejects anything unusual. It does not
 * replace that parser, which parses every admitted request.
 */

const HEAD_END = Buffer.from('\r\n\r\n');
/** A longer head is not plain. */
const HEAD_BYTES_MAX = 8 * 1024;
/** RFC 9112 sections 3 and 5; no folded lines, and every line ends with CR LF. */
const HEAD = /^([A-Z]{3,7}) ([!-~]+) HTTP\/1\.1\r\n((?:[!#$%&'*+.^_`|~\w-]+:[\t -~\x80-\xff]*\r\n)+)$/;
/**
 * The headers that decide where the request ends or what follows it. This pattern and those below match without
 * backtracking, because a head may be hostile.
 */
const FRAMING =
  /^(content-length|transfer-encoding|connection|proxy-connection|expect|upgrade|host):([^\r]*)\r$/gim;
/** Decimal without leading zeros, up to nine digits. */
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;
const ORIGIN = /^origin:([^\r]*)\r$/gim;
const REQUEST_ID = /^x-request-id:([^\r]*)\r$/gim;

export class PlainRequest {
  readonly method: string;
  readonly path: string;
  /** Size of the whole request, with its body. */
  readonly bytes: number;
  /** True if the client wants the connection closed after the answer. */
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
    return joinValues(this.#headers, ORIGIN);
  }

  /** `x-request-id`, as the client sent it. */
  get requestId(): string | undefined {
    return joinValues(this.#headers, REQUEST_ID);
  }
}

/** The values of a header, joined as Node joins a repeated header. */
function joinValues(headers: string, line: RegExp): string | undefined {
  const values = Array.from(headers.matchAll(line), ([, value = '']) => trimBlanks(value));
  return values.length === 0 ? undefined : values.join(', ');
}

interface Framing {
  bytes: number;
  closes: boolean;
}

/** Returns null if the head is incomplete or not plain. */
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
    found.set(key, trimBlanks(value));
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

/** Removes spaces and tabs at both ends; other white space is part of a value. */
function trimBlanks(value: string): string {
  const isBlank = (at: number) => value[at] === ' ' || value[at] === '\t';
  let start = 0;
  let end = value.length;
  while (isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return value.slice(start, end);
}
