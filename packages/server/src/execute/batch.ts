/**
 * Runs the calls of a batch, a few at once, and sends their answers in the order of the calls. What is done ahead of its
 * turn is held back within a bound; beyond it, that call's upstream waits, and so do the calls that have not begun.
 */
import type { AnswerHeaders, AnswerWriter } from './exchange.ts';

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** Bytes of one answer that may wait for their turn. */
const HELD_BYTES_MAX = 256 * 1024;

/** `runCall(index, writer)` runs one call and never rejects; it resolves when its answer is whole or broken off. */
export async function runBatch(
  count: number,
  concurrency: number,
  headers: AnswerHeaders,
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
  let before: Uint8Array = OPEN;
  for (const slot of slots) {
    await writer.write(before);
    before = COMMA;
    if (await slot.takeTurn()) continue;
    writer.breakOff();
    // The turn of the others will never come: what they write goes nowhere, but must not wait.
    for (const waiting of slots) waiting.open();
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
  /** Settles what waits: for room before the turn, for the end during it. */
  #onRoom: (() => void) | null = null;
  #onFinished: (() => void) | null = null;

  constructor(out: AnswerWriter) {
    this.#out = out;
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
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
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
    this.#onRoom?.();
    if (this.#isItsTurn && !this.isWhole) this.#out.breakOff();
  }

  /** Nothing more will come. */
  finish(): void {
    this.#isFinished = true;
    this.#onFinished?.();
  }

  /** What is written from now on goes straight out. */
  open(): void {
    this.#isOpen = true;
    this.#held = [];
    this.#onRoom?.();
  }

  /** Passes on what is held and what follows; false if the answer was broken off. */
  async takeTurn(): Promise<boolean> {
    this.#isItsTurn = true;
    for (let piece = this.#held.shift(); piece !== undefined; piece = this.#held.shift())
      await this.#out.write(piece);
    this.open();
    if (!this.#isFinished) {
      await new Promise<void>((resolve) => {
        this.#onFinished = resolve;
      });
    }
    return this.isWhole;
  }
}
