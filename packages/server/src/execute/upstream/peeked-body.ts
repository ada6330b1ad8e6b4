/** A body whose first part has been looked at: what was read is kept in one piece, and reading goes on from there. */
import type { ByteStream } from '../../streams/byte-stream.ts';
import { PieceCollector } from '../../streams/piece-collector.ts';

const LATE = Symbol('late');

export class PeekedBody implements ByteStream {
  readonly #body: ByteStream;
  readonly #read = new PieceCollector();
  /** A read that was given up waiting for: its bytes come first when reading goes on. */
  #outstanding: ReturnType<ByteStream['next']> = null;
  /** True once the end was read: `bytes` is the whole body. */
  isWhole = false;

  constructor(body: ByteStream) {
    this.#body = body;
  }

  /** What has been read so far. */
  get bytes(): Uint8Array {
    return this.#read.join();
  }

  /** Bytes read so far. */
  get length(): number {
    return this.#read.length;
  }

  async readMore(): Promise<void> {
    this.#keep(await this.next());
  }

  /** Reads on for so long at most, or until more than `bytesMax` bytes are here; nothing is lost by that. */
  async readMoreWithin(timeoutMs: number, bytesMax: number): Promise<void> {
    const patience = Promise.withResolvers<typeof LATE>();
    // One time for all pieces: those of a slow answer may each come soon, without end.
    // Where this process was busy, pieces may be here unread: what has arrived is read before setImmediate.
    const timer = setTimeout(() => setImmediate(patience.resolve, LATE), timeoutMs);
    try {
      while (!this.isWhole && this.length <= bytesMax) {
        const read = this.next();
        const piece = read instanceof Promise ? await Promise.race([read, patience.promise]) : read;
        if (piece === LATE) {
          this.#outstanding = read;
          return;
        }
        this.#keep(piece);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const outstanding = this.#outstanding;
    if (outstanding === null) return this.#body.next();
    this.#outstanding = null;
    return outstanding;
  }

  cancel(): void {
    this.#body.cancel();
  }

  #keep(piece: Uint8Array | null): void {
    if (piece === null) this.isWhole = true;
    else this.#read.add(piece);
  }
}
