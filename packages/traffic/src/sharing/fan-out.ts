/**
 * Reads one body once and passes it to any number of readers, each at its own pace within a bound. A reader gets all
 * bytes from the first one on, or a `ByteStreamError`: never a part that looks whole. Does not interpret the bytes.
 *
 * The pieces form a linked list. Each reader refers to the last piece that it took. The bytes of later pieces are held
 * until all readers have taken them.
 */
import { type ByteStream, ByteStreamError } from '@erp-proxy/async/streams';
import { type ByteBudget, detachPiece, weighPiece } from './byte-budget.ts';

export interface FanOutLimits {
  /** New readers can join until more bytes than this have arrived. */
  startBytesMax: number;
  /** Number of bytes by which the slowest reader may be behind before the faster ones wait for it. */
  lagBytesMax: number;
  /** Total time in milliseconds for which readers wait for slower ones. After that the slowest ones are cut off. */
  patienceMs: number;
  /**
   * Limit for the bytes that all fan-outs hold. When it is reached, the beginning of the body is dropped, so that no
   * reader can join. The next piece is then read only after all readers have taken the last one.
   */
  budget: ByteBudget;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

interface Piece {
  /** Empty after all readers have taken the piece. */
  bytes: Uint8Array;
  /** Number of readers that have not taken the piece yet. */
  untaken: number;
  next: Piece | null;
}

interface Reader {
  /** The last piece that the reader took. */
  last: Piece;
  takenPieces: number;
  /** The pending `next` of a reader that has taken all pieces so far. */
  waiting: PromiseWithResolvers<Uint8Array | null> | null;
  /** Reason why the reader gets no more pieces. */
  error: Error | null;
  stopListening(): void;
}

const NOTHING = new Uint8Array();
/** The position of a reader that gets no more pieces. */
const REMOVED: Piece = { bytes: NOTHING, untaken: 0, next: null };

export class FanOut {
  readonly #source: ByteStream;
  readonly #limits: FanOutLimits;
  readonly #onClosed: () => void;
  readonly #readers = new Set<Reader>();
  /** The position before the first piece; null once the start is not kept any more. */
  #start: Piece | null = { bytes: NOTHING, untaken: 0, next: null };
  #newest = this.#start as Piece;
  #heldBytes = 0;
  #isReading = false;
  /** True: nothing more is read from the source. */
  #isEnded = false;
  #patienceMs: number;
  /** Set while readers wait for slower ones. */
  #stalled: { sinceMs: number; timer: NodeJS.Timeout } | null = null;

  /** `onClosed` is called once, when no reader can join any more. */
  constructor(source: ByteStream, limits: FanOutLimits, onClosed: () => void = () => {}) {
    this.#source = source;
    this.#limits = limits;
    this.#onClosed = onClosed;
    this.#patienceMs = limits.patienceMs;
  }

  /** Whether a new reader would get the whole body. */
  get isJoinable(): boolean {
    return this.#start !== null;
  }

  /**
   * Adds a reader, which leaves when it calls `cancel` or the signal aborts. The source is cancelled when the last
   * reader leaves.
   */
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
    if (reader.waiting !== null) throw new Error('next() was called while another next() is pending');
    if (reader.last.next === null) this.#readSource();
    const taken = this.#take(reader);
    if (taken !== undefined) return taken;
    reader.waiting = Promise.withResolvers();
    return reader.waiting.promise;
  }

  /** The reader's next bytes; null at the end, undefined if they have not arrived. */
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

  /** Ends all readers with the error of the source, even those that have not taken all pieces. */
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
    // A removed reader can be referenced until its caller has taken its bytes. It must not keep later pieces in memory.
    reader.last = REMOVED;
    if (this.#readers.size === 0) this.#end();
    else if (this.#stalled !== null) this.#resume();
  }

  #end(): void {
    this.#dropStart();
    this.#endStall();
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#source.cancel();
  }

  /** Reads the source again after a reader was removed, or ends the stall if no reader waits. */
  #resume(): void {
    if (this.#readers.values().some((reader) => reader.waiting !== null)) this.#readSource();
    else this.#endStall();
  }

  /**
   * Whether one more piece may be held. Drops the start if that makes room. If no reader is behind, there is always
   * room.
   */
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
    this.#resume();
  }

  #release(piece: Piece): void {
    piece.untaken--;
    if (piece.untaken === 0 && this.#start === null) this.#free(piece);
  }

  /**
   * Frees the bytes before the piece itself is collected: a piece in the old generation keeps all later pieces in
   * memory until the next major collection, tens of megabytes later.
   */
  #free(piece: Piece): void {
    this.#hold(-weighPiece(piece.bytes));
    piece.bytes = NOTHING;
  }

  #dropStart(): void {
    if (this.#start === null) return;
    let piece = this.#start.next;
    this.#start = null;
    for (; piece !== null; piece = piece.next) if (piece.untaken === 0) this.#free(piece);
    this.#onClosed();
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#limits.budget.hold(bytes);
  }
}
