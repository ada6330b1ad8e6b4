/**
 * Runs the calls of a batch, a few at once, and sends their answers in the order of the calls. An answer that arrives
 * before its position is reached is buffered up to a maximum size. Beyond it, its upstream waits, and so do the calls
 * that have not begun.
 *
 * While earlier answers are sent, calls with later positions may keep workers of Odoo busy. If the caller reads too
 * slowly meanwhile, its connection is closed, as for a single answer.
 */

import type { AnswerHeaders, AnswerWriter, ByteStreamError } from '@erp-proxy/async/streams';
import { ReadingPace } from './reading-pace.ts';

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** Maximum bytes of one answer that are buffered before its position is reached. */
const BUFFERED_BYTES_MAX = 256 * 1024;

export interface BatchOptions {
  /** Number of calls. */
  count: number;
  /** Maximum number of calls that run at once. */
  concurrency: number;
  headers: AnswerHeaders;
  /** Minimum rate at which the caller must read the answer; 0: none. */
  bytesPerSecondMin: number;
}

/** `runCall(index, writer)` runs one call and never rejects. It resolves when its answer is complete or broken off. */
export async function runBatch(
  { count, concurrency, headers, bytesPerSecondMin }: BatchOptions,
  writer: AnswerWriter,
  runCall: (index: number, writer: AnswerWriter) => Promise<void>,
): Promise<void> {
  const answers = Array.from({ length: count }, () => new OrderedAnswer(writer));
  let nextIndex = 0;
  const work = async () => {
    while (nextIndex < count) {
      const index = nextIndex++;
      const answer = answers[index] as OrderedAnswer;
      await runCall(index, answer);
      answer.finish();
      await answer.waitForRoom();
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, count) }, work);
  writer.begin(200, headers, null);
  const pace = new ReadingPace(bytesPerSecondMin);
  const isAnyCallBlocked = () => answers.some((answer) => answer.isCallBlocked);
  let isInTime = true;
  const send = async (piece: Uint8Array) => {
    isInTime &&= await pace.waitUntilRead(piece.length, writer.write(piece), isAnyCallBlocked);
    return isInTime;
  };
  let separator: Uint8Array = OPEN;
  for (const answer of answers) {
    const isTaken = await send(separator);
    separator = COMMA;
    if (isTaken && (await answer.sendOut(send))) continue;
    writer.breakOff();
    // Later positions will not be reached. Their bytes are discarded, and their writes must not wait.
    for (const waiting of answers) waiting.abandon(isInTime ? null : pace.slowCallerError);
    break;
  }
  await Promise.all(workers);
  if (answers.every((answer) => answer.isWhole)) {
    await writer.write(CLOSE);
    writer.end();
  }
}

/** One element of the answer's array. Buffers its bytes until its position is reached, then passes them on. */
class OrderedAnswer implements AnswerWriter {
  readonly #out: AnswerWriter;
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  /** The position is reached: bytes may have been sent. */
  #isReached = false;
  /** The position is reached and the buffer was sent: further bytes are passed on directly. */
  #isPassedOn = false;
  #isFinished = false;
  isWhole = false;
  /** Settles writes that wait for room in the buffer; null if none waits. */
  #room: PromiseWithResolvers<void> | null = null;
  /** Called when the call has ended, while {@link sendOut} waits for that. */
  #onFinished: (() => void) | null = null;

  constructor(out: AnswerWriter) {
    this.#out = out;
  }

  get isHeldBack(): boolean {
    return !this.#isReached;
  }

  /** True while the call runs and waits for room in the buffer. */
  get isCallBlocked(): boolean {
    return this.#room !== null && !this.#isFinished;
  }

  sendWhole(_status: number, _headers: AnswerHeaders, body: Uint8Array): void {
    void this.write(body);
    this.end();
  }

  begin(): void {}

  write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#isPassedOn) return this.#out.write(piece);
    this.#buffered.push(piece);
    this.#bufferedBytes += piece.length;
    return this.waitForRoom();
  }

  /** If the buffer is full, resolves when the position is reached. */
  waitForRoom(): Promise<void> | undefined {
    if (this.#isPassedOn || this.#bufferedBytes <= BUFFERED_BYTES_MAX) return undefined;
    this.#room ??= Promise.withResolvers();
    // Not every writer awaits the promise, so a rejection must count as handled.
    this.#room.promise.catch(() => {});
    return this.#room.promise;
  }

  end(): void {
    this.isWhole = true;
    this.finish();
  }

  restart(): boolean {
    if (this.#isReached) return false;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    return true;
  }

  breakOff(): void {
    this.#endWait();
    if (this.#isReached && !this.isWhole) this.#out.breakOff();
  }

  /** Records that no more bytes will be written. */
  finish(): void {
    this.#isFinished = true;
    this.#onFinished?.();
  }

  /** Discards the answer, because its position will not be reached. An error ends the call. */
  abandon(error: ByteStreamError | null): void {
    this.#isReached = true;
    if (error !== null && this.isCallBlocked) this.#room?.reject(error);
    this.#passOn();
  }

  /** Sends the buffer and what follows. Returns false if the answer was broken off, or the caller was too slow. */
  async sendOut(send: (piece: Uint8Array) => Promise<boolean>): Promise<boolean> {
    this.#isReached = true;
    for (let piece = this.#buffered.shift(); piece !== undefined; piece = this.#buffered.shift())
      if (!(await send(piece))) return false;
    this.#passOn();
    if (!this.#isFinished) {
      await new Promise<void>((resolve) => {
        this.#onFinished = resolve;
      });
    }
    return this.isWhole;
  }

  /** Passes further bytes on directly. */
  #passOn(): void {
    this.#isPassedOn = true;
    this.#buffered = [];
    this.#endWait();
  }

  #endWait(): void {
    this.#room?.resolve();
    this.#room = null;
  }
}
