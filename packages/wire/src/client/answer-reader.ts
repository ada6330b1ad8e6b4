/**
 * Parses one HTTP/1.x answer from the bytes of a connection: interim answers, the head, and the body in any framing. It
 * buffers at most a head; bytes of the body are passed on at once.
 */
import { type AnswerHead, AnswerSyntaxError, readAnswerHead } from './answer-head.ts';
import { ChunkReader } from './chunk-reader.ts';

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

  /** The connection has ended in order. False if the answer is incomplete. */
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
