/** Collects results while they pass through, and stores the complete ones that are small enough. */

import type { ByteStream } from '@erp-proxy/async/streams';
import type { AnswerStore, ReadMoment, ReadScope } from './answer-store.ts';
import { type ByteBudget, weighPiece } from './byte-budget.ts';
import type { StreamedResult } from './flight.ts';

export interface AnswerKeeperOptions {
  store: AnswerStore;
  /** Maximum bytes of a kept answer. */
  answerBytesMax: number;
  /** The budget for bytes of answers that are being collected. */
  budget: ByteBudget;
}

/** A sent read, and whether its answer is kept already: the answer of several callers is kept only once. */
export interface KeepingMoment extends ReadMoment {
  isKept: boolean;
}

const WHITESPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

export class AnswerKeeper<Result extends StreamedResult> {
  readonly #options: AnswerKeeperOptions;

  constructor(options: AnswerKeeperOptions) {
    this.#options = options;
  }

  /**
   * Returns the result for a caller that accepts answers up to `maxAgeMs` old. It is kept once this caller has read it
   * to its end.
   */
  keep(result: Result, scope: ReadScope, moment: KeepingMoment, maxAgeMs: number): Result {
    const { rest, pieces, tail, lastByte } = result;
    const store = (all: Uint8Array[]) => this.#store([...all, tail], scope, moment, maxAgeMs);
    if (rest === null) {
      store(pieces);
      return result;
    }
    const { answerBytesMax, budget } = this.#options;
    const body = new CollectingBody(rest, answerBytesMax, budget, (more) => {
      const all = [...pieces, ...more];
      if (lastByte === null || findLastByte(all) === lastByte) store(all);
    });
    return { ...result, rest: body };
  }

  #store(pieces: Uint8Array[], scope: ReadScope, moment: KeepingMoment, maxAgeMs: number): void {
    const { answerBytesMax, store } = this.#options;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (moment.isKept || length > answerBytesMax) return;
    moment.isKept = true;
    store.keep(scope, moment, maxAgeMs, copyWhole(pieces, length));
  }
}

/** Copies the pieces into new memory: a piece can be a small part of a large buffer, such as the pool of `Buffer`. */
function copyWhole(pieces: Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The last byte that is not white space. */
function findLastByte(pieces: Uint8Array[]): number | undefined {
  for (const piece of pieces.toReversed()) {
    const last = piece.findLast((byte) => !WHITESPACE.has(byte));
    if (last !== undefined) return last;
  }
  return undefined;
}

/** A body that passes its bytes on and collects them: after its end was read, the whole body is available. */
class CollectingBody implements ByteStream {
  readonly #body: ByteStream;
  readonly #weightMax: number;
  readonly #budget: ByteBudget;
  readonly #onWhole: (pieces: Uint8Array[]) => void;
  /** The collected pieces. Null once collecting has ended, because they were too large or the body has ended. */
  #pieces: Uint8Array[] | null = [];
  #weight = 0;

  /** `onWhole` is not called for a body that is heavier than `weightMax`, breaks off or is cancelled. */
  constructor(
    body: ByteStream,
    weightMax: number,
    budget: ByteBudget,
    onWhole: (pieces: Uint8Array[]) => void,
  ) {
    this.#body = body;
    this.#weightMax = weightMax;
    this.#budget = budget;
    this.#onWhole = onWhole;
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    if (this.#pieces === null) return this.#body.next();
    try {
      const read = this.#body.next();
      return read instanceof Promise ? read.then(this.#collect, this.#fail) : this.#collect(read);
    } catch (error) {
      return this.#fail(error);
    }
  }

  cancel(): void {
    this.#drop();
    this.#body.cancel();
  }

  readonly #collect = (piece: Uint8Array | null): Uint8Array | null => {
    const pieces = this.#pieces;
    if (pieces === null) return piece;
    if (piece === null) {
      this.#onWhole(pieces);
      this.#drop();
      return null;
    }
    const weight = weighPiece(piece);
    if (this.#weight + weight > this.#weightMax || this.#budget.isSpent) {
      this.#drop();
      return piece;
    }
    pieces.push(piece);
    this.#weight += weight;
    this.#budget.hold(weight);
    return piece;
  };

  readonly #fail = (error: unknown): never => {
    this.#drop();
    throw error;
  };

  #drop(): void {
    this.#pieces = null;
    this.#budget.free(this.#weight);
    this.#weight = 0;
  }
}
