/**
 * One body, read once and given to any number of readers, each at its own pace within a bound. Every reader gets every
 * byte from the first one on, or an `ByteStreamError`: never a part that looks whole. Knows nothing of what the bytes say.
 *
 * The pieces are a linked list. A reader holds on to the last piece it took, and the bytes of the pieces after it are held
 * for as long as somebody is to take them.
 */
import { type ByteStream, ByteStreamError } from '../streams/byte-stream.ts';
import { type ByteBudget, detachPiece, weighPiece } from './byte-budget.ts';

export interface FanOutLimits {
  /** For as long as no more than this came, a newcomer can still get the whole. */
  startBytesMax: number;
  /** How far the slowest reader may be behind before the others wait for it. */
  lagBytesMax: number;
  /** How long readers wait for slower ones, all in all; after that who is too far behind is broken off. */
  patienceMs: number;
  /** What all fan-outs may hold. Without room in it no start is kept, and readers go in step. */
  budget: ByteBudget;
  /** A clock that never goes back. */
  nowMs: () => number;
}

interface Piece {
  /** Empty once nobody is to take them. */
  bytes: Uint8Array;
  /** Readers that are still to take it. */
  untaken: number;
  next: Piece | null;
}

interface Reader {
  /** The piece that it took last. */
  last: Piece;
  takenPieces: number;
  /** It has all that came, and waits for more. */
  waiting: PromiseWithResolvers<Uint8Array | null> | null;
  /** Why it gets nothing more. */
  error: Error | null;
  stopListening(): void;
}

const NOTHING = new Uint8Array();
/** Where a reader stands that is to get nothing more. */
const NOWHERE: Piece = { bytes: NOTHING, untaken: 0, next: null };

export class FanOut {
  readonly #source: ByteStream;
  readonly #limits: FanOutLimits;
  readonly #onClosed: () => void;
  readonly #readers = new Set<Reader>();
  /** Stands before the first piece; null once the start is not kept any more. */
  #start: Piece | null = { bytes: NOTHING, untaken: 0, next: null };
  #newest = this.#start as Piece;
  #heldBytes = 0;
  #isReading = false;
  /** The source has given all it will give. */
  #isEnded = false;
  #patienceMs: number;
  /** Since when a reader waits for slower ones. */
  #stalled: { sinceMs: number; timer: NodeJS.Timeout } | null = null;

  /** `onClosed` is called once, when nobody can join any more. */
  constructor(source: ByteStream, limits: FanOutLimits, onClosed: () => void = () => {}) {
    this.#source = source;
    this.#limits = limits;
    this.#onClosed = onClosed;
    this.#patienceMs = limits.patienceMs;
  }

  /** Whether a newcomer would get the whole. */
  get isJoinable(): boolean {
    return this.#start !== null;
  }

  /** One more reader, from the first byte on; it leaves by `cancel` or with the signal. The last one to leave ends the source. */
  join(signal: AbortSignal): ByteStream {
    if (this.#start === null) throw new Error('the start is not kept any more');
    const leave = () => this.#remove(reader, new ByteStreamError('aborted', 'the reader left'));
    const reader: Reader = {
      last: this.#start,
      takenPieces: 0,
      waiting: null,
      error: null,
      stopListening: () => signal.removeEventListener('abort', leave),
    };
    this.#readers.add(reader);
    for (let piece = this.#start.next; piece !== null; piece = piece.next) piece.untaken++;
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    return { next: () => this.#next(reader), cancel: leave };
  }

  #next(reader: Reader): Uint8Array | null | Promise<Uint8Array | null> {
    if (reader.waiting !== null) throw new Error('next() was called before the last one was done');
    if (reader.last.next === null) this.#readSource();
    const taken = this.#take(reader);
    if (taken !== undefined) return taken;
    reader.waiting = Promise.withResolvers();
    return reader.waiting.promise;
  }

  /** The reader's next bytes, null at the end; undefined where they are still to come. */
  #take(reader: Reader): Uint8Array | null | undefined {
    if (reader.error !== null) throw reader.error;
    const piece = reader.last.next;
    if (piece === null) {
      if (!this.#isEnded) return undefined;
      this.#readers.delete(reader);
      reader.stopListening();
      return null;
    }
    const { bytes } = piece;
    reader.last = piece;
    reader.takenPieces++;
    this.#release(piece);
    if (this.#stalled !== null) this.#readSource();
    return bytes;
  }

  #readSource(): void {
    if (this.#isReading || this.#isEnded) return;
    if (!this.#hasRoom()) {
      this.#startStall();
      return;
    }
    this.#endStall();
    this.#isReading = true;
    let read: ReturnType<ByteStream['next']>;
    try {
      read = this.#source.next();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (read instanceof Promise) read.then(this.#add, this.#fail);
    else this.#add(read);
  }

  readonly #add = (bytes: Uint8Array | null): void => {
    this.#isReading = false;
    if (this.#isEnded) return;
    if (bytes === null) {
      this.#isEnded = true;
      this.#dropStart();
    } else {
      const piece = { bytes: detachPiece(bytes), untaken: this.#readers.size, next: null };
      this.#newest.next = piece;
      this.#newest = piece;
      this.#hold(weighPiece(bytes));
      const { startBytesMax, budget } = this.#limits;
      if (this.#heldBytes > startBytesMax || budget.isSpent) this.#dropStart();
    }
    for (const reader of this.#readers) {
      const { waiting } = reader;
      if (waiting === null) continue;
      const taken = this.#take(reader);
      if (taken === undefined) continue;
      reader.waiting = null;
      waiting.resolve(taken);
    }
  };

  /** The source broke off: so do all readers, wherever they are. */
  readonly #fail = (error: unknown): void => {
    this.#isReading = false;
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const reader of this.#readers) this.#remove(reader, error as Error);
  };

  #remove(reader: Reader, error: Error): void {
    if (!this.#readers.delete(reader)) return;
    reader.stopListening();
    reader.error = error;
    reader.waiting?.reject(error);
    reader.waiting = null;
    for (let piece = reader.last.next; piece !== null; piece = piece.next) this.#release(piece);
    // What follows must not live on by one that waits for its caller to take what it has.
    reader.last = NOWHERE;
    if (this.#readers.size === 0) this.#end();
    else if (this.#stalled !== null) this.#goOn();
  }

  #end(): void {
    this.#dropStart();
    this.#endStall();
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#source.cancel();
  }

  /** One reader less: there may be room now, or nobody who waits for it. */
  #goOn(): void {
    if (this.#readers.values().some((reader) => reader.waiting !== null)) this.#readSource();
    else this.#endStall();
  }

  /** Whether one more piece may be held. A start that is in the way goes; where nobody is behind, there always is room. */
  #hasRoom(): boolean {
    if (this.#isWithinBounds()) return true;
    this.#dropStart();
    return this.#heldBytes === 0 || this.#isWithinBounds();
  }

  #isWithinBounds(): boolean {
    const { lagBytesMax, budget } = this.#limits;
    return this.#heldBytes < lagBytesMax && !budget.isSpent;
  }

  #startStall(): void {
    if (this.#stalled !== null) return;
    const timer = setTimeout(() => this.#breakOffSlowest(), this.#patienceMs);
    this.#stalled = { sinceMs: this.#limits.nowMs(), timer };
  }

  #endStall(): void {
    if (this.#stalled === null) return;
    clearTimeout(this.#stalled.timer);
    this.#patienceMs = Math.max(0, this.#patienceMs - (this.#limits.nowMs() - this.#stalled.sinceMs));
    this.#stalled = null;
  }

  #breakOffSlowest(): void {
    this.#endStall();
    const error = new ByteStreamError(
      'broken_off',
      'the reader fell too far behind those it shared an answer with',
    );
    while (!this.#hasRoom()) {
      const slowest = Math.min(...this.#readers.values().map((reader) => reader.takenPieces));
      for (const reader of this.#readers) if (reader.takenPieces === slowest) this.#remove(reader, error);
    }
    this.#goOn();
  }

  #release(piece: Piece): void {
    piece.untaken--;
    if (piece.untaken === 0 && this.#start === null) this.#letGo(piece);
  }

  /**
   * The bytes do not wait for the piece to be collected: one that has grown old keeps all that follow it alive until the
   * next full collection, tens of megabytes later.
   */
  #letGo(piece: Piece): void {
    this.#hold(-weighPiece(piece.bytes));
    piece.bytes = NOTHING;
  }

  #dropStart(): void {
    if (this.#start === null) return;
    let piece = this.#start.next;
    this.#start = null;
    for (; piece !== null; piece = piece.next) if (piece.untaken === 0) this.#letGo(piece);
    this.#onClosed();
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#limits.budget.hold(bytes);
  }
}
