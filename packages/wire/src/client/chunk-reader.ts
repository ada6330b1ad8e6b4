/** Parses the chunked framing of a body (RFC 9112 section 7.1). Strict for the reason that answer-head.ts gives. */
import { AnswerSyntaxError } from './answer-head.ts';

/** With at most 13 hexadecimal digits the size is exact as a number. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/;
const TRAILER_LINE = /^[!#$%&'*+.^_`|~\w-]+:[\t\x20-\x7e\x80-\xff]*$/;
const LINE_BYTES_MAX = 4 * 1024;
const TRAILERS_MAX = 100;

const LF = 0x0a;

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
