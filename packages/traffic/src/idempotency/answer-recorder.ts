/**
 * Copies an answer while it is sent, up to a maximum size. All pieces pass at once except the end, which is held back
 * until `release`: a caller that has a whole answer will then find the same answer under its key. If the length was
 * announced, the last piece counts as the end.
 */
import { type AnswerHeaders, type AnswerWriter, PieceCollector } from '@erp-proxy/async/streams';
import type { StoredAnswer } from './answer-seal.ts';

/** The memory that all recorders share. */
export class RecordingBudget {
  #freeBytes: number;

  constructor(bytesMax: number) {
    this.#freeBytes = bytesMax;
  }

  /** Reserves bytes. False, and nothing is reserved, if fewer are free. */
  take(bytes: number): boolean {
    if (bytes > this.#freeBytes) return false;
    this.#freeBytes -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#freeBytes += bytes;
  }
}

export class AnswerRecorder implements AnswerWriter {
  readonly #out: AnswerWriter;
  readonly #budget: RecordingBudget;
  readonly #bytesMax: number;
  #status = 0;
  /** Pieces of the copy; null: the answer is not recorded. */
  #pieces: PieceCollector | null = new PieceCollector();
  /** Bytes of the announced length that are still to come; null: no length was announced. */
  #missingBytes: number | null = null;
  /** Pieces that complete the announced length, which are held back. */
  #lastPieces: Uint8Array[] = [];
  /** Sends the end of the answer; null until the answer is complete. */
  #sendEnd: (() => void) | null = null;

  constructor(out: AnswerWriter, budget: RecordingBudget, bytesMax: number) {
    this.#out = out;
    this.#budget = budget;
    this.#bytesMax = bytesMax;
  }

  /** The recorded answer; null if it is incomplete or too large. */
  get answer(): StoredAnswer | null {
    if (this.#sendEnd === null || this.#pieces === null) return null;
    return { status: this.#status, body: this.#pieces.join() };
  }

  get isHeldBack(): boolean {
    return this.#out.isHeldBack;
  }

  /** Sends the end that was held back, and drops the copy. */
  release(): void {
    this.#sendEnd?.();
    this.#drop();
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.#status = status;
    this.#add(body);
    const sendEnd = () => this.#out.sendWhole(status, headers, body);
    this.#sendEnd = sendEnd;
  }

  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void {
    this.#status = status;
    this.#missingBytes = lengthBytes;
    this.#out.begin(status, headers, lengthBytes);
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    this.#add(piece);
    if (this.#missingBytes === null) return this.#out.write(piece);
    this.#missingBytes -= piece.length;
    if (this.#missingBytes > 0) return this.#out.write(piece);
    this.#lastPieces.push(piece);
    return undefined;
  }

  end(): void {
    const sendEnd = () => {
      for (const piece of this.#lastPieces) void this.#out.write(piece);
      this.#out.end();
    };
    this.#sendEnd = sendEnd;
  }

  restart(): boolean {
    if (!this.#out.restart()) return false;
    this.#drop();
    this.#pieces = new PieceCollector();
    return true;
  }

  breakOff(): void {
    this.#drop();
    this.#out.breakOff();
  }

  #add(piece: Uint8Array): void {
    if (this.#pieces === null) return;
    if (this.#pieces.length + piece.length <= this.#bytesMax && this.#budget.take(piece.length))
      this.#pieces.add(piece);
    else this.#dropCopy();
  }

  #drop(): void {
    this.#dropCopy();
    this.#lastPieces = [];
    this.#sendEnd = null;
  }

  #dropCopy(): void {
    this.#budget.giveBack(this.#pieces?.length ?? 0);
    this.#pieces = null;
  }
}
