/**
 * Reads one HTTP/1.x answer from the bytes of a connection, however they are split: interim answers, the head, the body
 * in each of its framings. It holds no more than a head; of the body, what comes in goes out at once.
 */
import { type AnswerHead, AnswerSyntaxError, readAnswerHead } from './answer-head.ts';
import { ChunkReader } from './chunk-reader.ts';

export interface AnswerSink {
  /** Once, unless the answer is no HTTP. */
  onHead(head: AnswerHead): void;
  onPiece(piece: Buffer): void;
  /** The body is complete; the bytes behind it, where there are any, are nobody's. */
  onEnd(hasMore: boolean): void;
}

const HEAD_BYTES_MAX = 32 * 1024;
/** Odoo sends none, a reverse proxy one or two. A server that sends them without end would keep the call and the processor. */
const INTERIM_ANSWERS_MAX = 16;

/** What is none is told by its first bytes: it may never send an empty line. */
const PROTOCOL = 'HTTP/1.';
const HEAD_END = Buffer.from('\r\n\r\n');

export class AnswerReader {
  readonly #sink: AnswerSink;
  /** What is here of the head that is being read. */
  #begun: Buffer | null = null;
  #head: AnswerHead | null = null;
  #interimAnswers = 0;
  #missingBytes = 0;
  #chunks: ChunkReader | null = null;
  #isOver = false;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** Throws {@link AnswerSyntaxError}; nothing may be taken after it. */
  take(bytes: Buffer): void {
    let start = 0;
    while (this.#head === null) {
      const whole: Buffer =
        this.#begun === null ? bytes.subarray(start) : Buffer.concat([this.#begun, bytes]);
      const searchStart = this.#begun === null ? 0 : Math.max(0, this.#begun.length - HEAD_END.length);
      const textEnd = whole.indexOf(HEAD_END, searchStart);
      if ((textEnd === -1 ? whole.length : textEnd) > HEAD_BYTES_MAX)
        throw new AnswerSyntaxError(`the answer's head has more than ${HEAD_BYTES_MAX} bytes`);
      if (textEnd === -1) {
        if (!PROTOCOL.startsWith(whole.toString('latin1', 0, PROTOCOL.length)))
          throw new AnswerSyntaxError('the answer is not HTTP/1');
        this.#begun = whole;
        return;
      }
      this.#begun = null;
      this.#takeHead(readAnswerHead(whole.toString('latin1', 0, textEnd + 2)));
      start = bytes.length - (whole.length - textEnd - HEAD_END.length);
    }
    this.#takeBody(bytes, start);
  }

  /** The connection has ended, in order. False where the answer is not complete by that. */
  finish(): boolean {
    if (this.#head?.framing === 'connection' && !this.#isOver) this.#end(false);
    return this.#isOver;
  }

  #takeHead(head: AnswerHead): void {
    if (head.status === 101) throw new AnswerSyntaxError('the answer changes the protocol');
    // RFC 9110 section 15.2: other interim answers may be passed over.
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
