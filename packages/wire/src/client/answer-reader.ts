/**
 * Parses one HTTP/1.x answer from the bytes of a connection: interim answers, the head, and the body in any framing. It
 * buffers at most a head; bytes of the body are passed on at once.
 */
import { splitHeaderLines, trimBlanks } from '@erp-proxy/text';

export interface AnswerSink {
  /** Called once, unless the answer is not HTTP. */
  onHead(head: AnswerHead): void;
  onPiece(piece: Buffer): void;
  /** The body is complete. `hasMore`: more bytes follow, which belong to no request. */
  onEnd(hasMore: boolean): void;
}

const HEAD_BYTES_MAX = 32 * 1024;
/** Odoo sends none, a reverse proxy one or two. An endless series would occupy the call and the processor. */
const INTERIM_ANSWERS_MAX = 16;

/** Anything else is refused by its first bytes, since it may never send an empty line. */
const PROTOCOL = 'HTTP/1.';
const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);

export class AnswerReader {
  readonly #sink: AnswerSink;
  /** The bytes so far of an incomplete head. */
  #partial: Buffer | null = null;
  /** The memory of these bytes, with room for more. */
  #memory = EMPTY;
  #head: AnswerHead | null = null;
  #interimAnswers = 0;
  #missingBytes = 0;
  #chunks: ChunkReader | null = null;
  #isOver = false;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** Throws {@link AnswerSyntaxError}; must not be called after that. */
  take(bytes: Buffer): void {
    let start = 0;
    while (this.#head === null) {
      const whole: Buffer =
        this.#partial === null ? bytes.subarray(start) : this.#append(this.#partial, bytes);
      const searchStart = this.#partial === null ? 0 : Math.max(0, this.#partial.length - HEAD_END.length);
      const textEnd = whole.indexOf(HEAD_END, searchStart);
      if ((textEnd === -1 ? whole.length : textEnd) > HEAD_BYTES_MAX)
        throw new AnswerSyntaxError(`the answer's head has more than ${HEAD_BYTES_MAX} bytes`);
      if (textEnd === -1) {
        if (!PROTOCOL.startsWith(whole.toString('latin1', 0, PROTOCOL.length)))
          throw new AnswerSyntaxError('the answer is not HTTP/1');
        this.#partial = whole;
        return;
      }
      this.#partial = null;
      this.#memory = EMPTY;
      this.#takeHead(readAnswerHead(whole.toString('latin1', 0, textEnd + 2)));
      start = bytes.length - (whole.length - textEnd - HEAD_END.length);
    }
    this.#takeBody(bytes, start);
  }

  /** The server has ended the connection regularly. False if the answer is incomplete. */
  finish(): boolean {
    if (this.#head?.framing === 'connection' && !this.#isOver) this.#end(false);
    return this.#isOver;
  }

  /** Doubles the memory when it is full. Copying everything for each piece would take quadratic time. */
  #append(partial: Buffer, bytes: Buffer): Buffer {
    const length = partial.length + bytes.length;
    if (this.#memory.length < length) {
      this.#memory = Buffer.allocUnsafeSlow(2 * length);
      partial.copy(this.#memory);
    }
    bytes.copy(this.#memory, partial.length);
    return this.#memory.subarray(0, length);
  }

  #takeHead(head: AnswerHead): void {
    if (head.status === 101) throw new AnswerSyntaxError('the answer changes the protocol');
    // RFC 9110 section 15.2: other interim answers may be ignored.
    if (head.status < 200) {
      if (++this.#interimAnswers > INTERIM_ANSWERS_MAX)
        throw new AnswerSyntaxError(
          `more than ${INTERIM_ANSWERS_MAX} interim answers came before the answer`,
        );
      return;
    }
    this.#head = head;
    if (head.framing === 'chunked') this.#chunks = new ChunkReader();
    else this.#missingBytes = head.framing === 'connection' ? Number.POSITIVE_INFINITY : head.framing;
    this.#sink.onHead(head);
  }

  #takeBody(bytes: Buffer, start: number): void {
    if (this.#isOver) return;
    if (this.#chunks !== null) {
      const end = this.#chunks.take(bytes, start, this.#sink);
      if (end !== null) this.#end(end < bytes.length);
      return;
    }
    const end = Math.min(bytes.length, start + this.#missingBytes);
    this.#missingBytes -= end - start;
    if (end > start)
      this.#sink.onPiece(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
    if (this.#missingBytes === 0) this.#end(end < bytes.length);
  }

  #end(hasMore: boolean): void {
    this.#isOver = true;
    this.#sink.onEnd(hasMore);
  }
}

/** Header names in lower case. The value is a list if the header occurs several times. */
export type AnswerHeaders = Record<string, string | string[] | undefined>;

/**
 * Parses the head of an HTTP/1.x answer (RFC 9112 sections 4 to 6). Pure and strict: a head that two parsers could
 * read differently is refused, since a caller chooses the server.
 */
export interface AnswerHead {
  status: number;
  headers: AnswerHeaders;
  /** How the body ends: after this number of bytes, with the last chunk, or with the connection. */
  framing: number | 'chunked' | 'connection';
  /** The connection must not be used for another request. */
  isLast: boolean;
  /** Milliseconds that the server keeps the idle connection; null if it does not state it. */
  keptMs: number | null;
}

/** The answer is not HTTP, or is ambiguous. */
export class AnswerSyntaxError extends Error {
  override readonly name = 'AnswerSyntaxError';
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
/** Exact as a number. */
const CONTENT_LENGTH = /^\d{1,15}$/;

/** `text`: the head in latin1, with the line break of its last line and without the empty line. */
function readAnswerHead(text: string): AnswerHead {
  const statusLine = STATUS_LINE.exec(text);
  if (statusLine === null)
    throw new AnswerSyntaxError('the answer does not begin with an HTTP/1 status line');
  const status = Number(statusLine[2]);
  const headers = readHeaders(text, statusLine[0].length);
  const connection = listTokens(headers['connection']);
  const framing = readFraming(status, headers);
  const isOld = statusLine[1] === '0';
  return {
    status,
    headers,
    framing,
    isLast:
      framing === 'connection' ||
      connection.includes('close') ||
      // RFC 9112 section 6.1: a proxy that does not know chunks may have passed them on in HTTP/1.0.
      (isOld && (framing === 'chunked' || !connection.includes('keep-alive'))),
    keptMs: readKeptMs(headers['keep-alive']),
  };
}

function readHeaders(text: string, start: number): AnswerHeaders {
  const lines = splitHeaderLines(text, start);
  if (lines === null) throw new AnswerSyntaxError("a line of the answer's head is not a header");
  const headers: AnswerHeaders = Object.create(null);
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index] as string;
    const value = lines[index + 1] as string;
    const earlier = headers[name];
    // A server may send thousands of lines with one name.
    if (Array.isArray(earlier)) earlier.push(value);
    else headers[name] = earlier === undefined ? value : [earlier, value];
  }
  return headers;
}

/** RFC 9112 section 6.3, without the repairs that it permits: they make response smuggling possible. */
function readFraming(status: number, headers: AnswerHeaders): AnswerHead['framing'] {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (length !== undefined && coding !== undefined)
    throw new AnswerSyntaxError('the answer has both content-length and transfer-encoding');
  if (length !== undefined && (typeof length !== 'string' || !CONTENT_LENGTH.test(length)))
    throw new AnswerSyntaxError("the answer's content-length is not one number");
  if (coding !== undefined && String(coding).toLowerCase() !== 'chunked')
    throw new AnswerSyntaxError("the answer's transfer-encoding is not chunked");
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return 'chunked';
  return length === undefined ? 'connection' : Number(length);
}

function readKeptMs(header: AnswerHeaders[string]): number | null {
  const seconds = header === undefined ? null : /\btimeout=(\d{1,9})\b/i.exec(String(header));
  return seconds === null ? null : Number(seconds[1]) * 1000;
}

function listTokens(header: AnswerHeaders[string]): string[] {
  if (header === undefined) return [];
  return String(header).toLowerCase().split(',').map(trimBlanks);
}

/** With at most 13 hexadecimal digits the size is exact as a number. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/;
const TRAILER_LINE = /^[!#$%&'*+.^_`|~\w-]+:[\t\x20-\x7e\x80-\xff]*$/;
const LINE_BYTES_MAX = 4 * 1024;
const TRAILERS_MAX = 100;

const LF = 0x0a;

/** Parses the chunked framing of a body (RFC 9112 section 7.1), as strictly as the head. */
export class ChunkReader {
  #phase: 'size' | 'data' | 'data end' | 'trailer' | 'over' = 'size';
  /** The part of the current line that has arrived. */
  #line = '';
  #missingBytes = 0;
  #trailers = 0;

  /** Passes the data in `bytes` from `start` to the sink. Gives the index at which the body ends, or null. */
  take(bytes: Buffer, start: number, sink: { onPiece(piece: Buffer): void }): number | null {
    let index = start;
    while (index < bytes.length && this.#phase !== 'over') {
      if (this.#phase === 'data') {
        const end = Math.min(bytes.length, index + this.#missingBytes);
        this.#missingBytes -= end - index;
        sink.onPiece(bytes.subarray(index, end));
        index = end;
        if (this.#missingBytes === 0) this.#phase = 'data end';
      } else {
        const lineEnd = bytes.indexOf(LF, index) + 1;
        const end = lineEnd === 0 ? bytes.length : lineEnd;
        if (this.#line.length + end - index > LINE_BYTES_MAX)
          throw new AnswerSyntaxError('a line between the chunks is too long');
        this.#line += bytes.toString('latin1', index, end);
        index = end;
        if (lineEnd !== 0) this.#takeLine();
      }
    }
    return this.#phase === 'over' ? index : null;
  }

  #takeLine(): void {
    if (!this.#line.endsWith('\r\n'))
      throw new AnswerSyntaxError('a line between the chunks ends without CR');
    const line = this.#line.slice(0, -2);
    this.#line = '';
    if (this.#phase === 'size') this.#takeSize(line);
    else if (this.#phase === 'data end' && line === '') this.#phase = 'size';
    else if (this.#phase === 'trailer' && line === '') this.#phase = 'over';
    else if (this.#phase !== 'trailer' || !TRAILER_LINE.test(line) || ++this.#trailers > TRAILERS_MAX)
      throw new AnswerSyntaxError('a chunk is followed by neither a line break nor a valid trailer');
  }

  #takeSize(line: string): void {
    const size = SIZE_LINE.exec(line)?.[1];
    if (size === undefined) throw new AnswerSyntaxError('the size of a chunk is not a hexadecimal number');
    this.#missingBytes = Number.parseInt(size, 16);
    this.#phase = this.#missingBytes === 0 ? 'trailer' : 'data';
  }
}
