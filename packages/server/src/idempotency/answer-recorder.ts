/**
 * Copies an answer on its way out, within a bound. All of it goes on at once but the end, which waits until it is let go: a
 * caller that has an answer whole finds the same one under its key. Of an answer whose length is told, the last piece is the
 * end.
 */
import type { AnswerHeaders, AnswerWriter } from '../streams/answer-writer.ts';
import { PieceCollector } from '../streams/piece-collector.ts';
import type { StoredAnswer } from './answer-seal.ts';

/** Bytes that all recorders together may hold. */
export class RecordingRoom {
  #freeBytes: number;

  constructor(bytesMax: number) {
    this.#freeBytes = bytesMax;
  }

  /** False, and nothing taken, where there is no room. */
  take(bytes: number): boolean {
    if (bytes > this.#freeBytes) return false;
    this.#freeBytes -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#freeBytes += bytes;
  }
}

export class AnswerRecorder implements AnswerWriter {
  readonly #out: AnswerWriter;
  readonly #room: RecordingRoom;
  readonly #bytesMax: number;
  #status = 0;
  /** Null: not to be kept. */
  #pieces: PieceCollector | null = new PieceCollector();
  /** Bytes of the length that was told which are still to come; null where none was. */
  #missingBytes: number | null = null;
  /** What makes up that length. */
  #last: Uint8Array[] = [];
  /** What ends the answer; null until it is whole. */
  #end: (() => void) | null = null;

  constructor(out: AnswerWriter, room: RecordingRoom, bytesMax: number) {
    this.#out = out;
    this.#room = room;
    this.#bytesMax = bytesMax;
  }

  /** The answer; null where it is not whole or too large. */
  get answer(): StoredAnswer | null {
    if (this.#end === null || this.#pieces === null) return null;
    return { status: this.#status, body: this.#pieces.join() };
  }

  get isHeldBack(): boolean {
    return this.#out.isHeldBack;
  }

  /** Passes on what was held back, and forgets what was recorded. */
  letGo(): void {
    this.#end?.();
    this.#drop();
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.#status = status;
    this.#add(body);
    this.#end = () => this.#out.sendWhole(status, headers, body);
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
    this.#last.push(piece);
    return undefined;
  }

  end(): void {
    this.#end = () => {
      for (const piece of this.#last) void this.#out.write(piece);
      this.#out.end();
    };
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
    if (this.#pieces.length + piece.length <= this.#bytesMax && this.#room.take(piece.length))
      this.#pieces.add(piece);
    else this.#forget();
  }

  #drop(): void {
    this.#forget();
    this.#last = [];
    this.#end = null;
  }

  #forget(): void {
    this.#room.give(this.#pieces?.length ?? 0);
    this.#pieces = null;
  }
}
