/**
 * Runs the calls of a batch, a few at once, and sends their answers in the order of the calls. What is done ahead of its
 * turn is held back within a bound; beyond it, that call's upstream waits, and so do the calls that have not begun.
 *
 * While answers that are done are sent, others that wait for their turn may hold workers of Odoo. So a caller that reads
 * them too slowly is broken off, as it is for a single answer.
 */

import type { AnswerHeaders, AnswerWriter } from '../../streams/answer-writer.ts';
import type { ByteStreamError } from '../../streams/byte-stream.ts';
import { ReadingPace } from './reading-pace.ts';

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** Bytes of one answer that may wait for their turn. */
const HELD_BYTES_MAX = 256 * 1024;

export interface BatchOptions {
  /** Calls of the batch. */
  count: number;
  /** Calls that run at once. */
  concurrency: number;
  headers: AnswerHeaders;
  /** The least rate at which the caller must take the answer; 0: any. */
  bytesPerSecondMin: number;
}

/** `runCall(index, writer)` runs one call and never rejects; it resolves when its answer is whole or broken off. */
export async function runBatch(
  { count, concurrency, headers, bytesPerSecondMin }: BatchOptions,
  writer: AnswerWriter,
  runCall: (index: number, writer: AnswerWriter) => Promise<void>,
): Promise<void> {
  const slots = Array.from({ length: count }, () => new Slot(writer));
  let nextIndex = 0;
  const work = async () => {
    while (nextIndex < count) {
      const index = nextIndex++;
      const slot = slots[index] as Slot;
      await runCall(index, slot);
      slot.finish();
      await slot.waitForRoom();
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, count) }, work);
  writer.begin(200, headers, null);
  const pace = new ReadingPace(bytesPerSecondMin);
  const isHoldingUp = () => slots.some((slot) => slot.isHeldUp);
  let isInTime = true;
  const send = async (piece: Uint8Array) => {
    isInTime &&= await pace.take(piece.length, writer.write(piece), isHoldingUp);
    return isInTime;
  };
  let before: Uint8Array = OPEN;
  for (const slot of slots) {
    const isReached = await send(before);
    before = COMMA;
    if (isReached && (await slot.takeTurn(send))) continue;
    writer.breakOff();
    // The turn of the others will never come: what they write goes nowhere, but must not wait.
    for (const waiting of slots) waiting.giveUp(isInTime ? null : pace.tooSlow);
    break;
  }
  await Promise.all(workers);
  if (slots.every((slot) => slot.isWhole)) {
    await writer.write(CLOSE);
    writer.end();
  }
}

/** One element of the answer's array: holds its bytes until its turn, then passes them on. */
class Slot implements AnswerWriter {
  readonly #out: AnswerWriter;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** Its turn has come: bytes may have left. */
  #isItsTurn = false;
  /** Its turn has come and all that was held has left. */
  #isOpen = false;
  #isFinished = false;
  isWhole = false;
  /** What waits for room before the turn. */
  #room: PromiseWithResolvers<void> | null = null;
  /** Settles what waits for the end during the turn. */
  #onFinished: (() => void) | null = null;

  constructor(out: AnswerWriter) {
    this.#out = out;
  }

  get isHeldBack(): boolean {
    return !this.#isItsTurn;
  }

  /** Its call runs, and waits for room. */
  get isHeldUp(): boolean {
    return this.#room !== null && !this.#isFinished;
  }

  sendWhole(_status: number, _headers: AnswerHeaders, body: Uint8Array): void {
    void this.write(body);
    this.end();
  }

  begin(): void {}

  write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#isOpen) return this.#out.write(piece);
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    return this.waitForRoom();
  }

  /** Where more is held than may be, resolves when its turn has come. */
  waitForRoom(): Promise<void> | undefined {
    if (this.#isOpen || this.#heldBytes <= HELD_BYTES_MAX) return undefined;
    this.#room ??= Promise.withResolvers();
    // Not everybody who writes waits.
    this.#room.promise.catch(() => {});
    return this.#room.promise;
  }

  end(): void {
    this.isWhole = true;
    this.finish();
  }

  restart(): boolean {
    if (this.#isItsTurn) return false;
    this.#held = [];
    this.#heldBytes = 0;
    return true;
  }

  breakOff(): void {
    this.#endWait();
    if (this.#isItsTurn && !this.isWhole) this.#out.breakOff();
  }

  /** Nothing more will come. */
  finish(): void {
    this.#isFinished = true;
    this.#onFinished?.();
  }

  /** Its turn will never come. With an error, that is why its call ends. */
  giveUp(error: ByteStreamError | null): void {
    this.#isItsTurn = true;
    if (error !== null && this.isHeldUp) this.#room?.reject(error);
    this.#open();
  }

  /** Passes on what is held and what follows; false if the answer was broken off, or not taken. */
  async takeTurn(send: (piece: Uint8Array) => Promise<boolean>): Promise<boolean> {
    this.#isItsTurn = true;
    for (let piece = this.#held.shift(); piece !== undefined; piece = this.#held.shift())
      if (!(await send(piece))) return false;
    this.#open();
    if (!this.#isFinished) {
      await new Promise<void>((resolve) => {
        this.#onFinished = resolve;
      });
    }
    return this.isWhole;
  }

  /** What is written from now on goes straight out. */
  #open(): void {
    this.#isOpen = true;
    this.#held = [];
    this.#endWait();
  }

  #endWait(): void {
    this.#room?.resolve();
    this.#room = null;
  }
}
