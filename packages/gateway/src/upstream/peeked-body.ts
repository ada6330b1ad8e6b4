/** A body whose beginning can be read ahead. The bytes read so far are kept, and reading continues after them. */

import { isLarge, shareInSlices } from '@erp-proxy/async/shared-bytes';
import { type ByteStream, PieceCollector } from '@erp-proxy/async/streams';
import { createPauses } from '@erp-proxy/async/tasks';

/** Bytes of a whole body that are read before other calls have their turn. */
const READ_BYTES_MAX = 256 * 1024;

const LATE = Symbol('late');

export class PeekedBody implements ByteStream {
  readonly #body: ByteStream;
  readonly #read = new PieceCollector();
  /** A read that did not settle within its time limit. Its bytes come first when reading continues. */
  #pending: ReturnType<ByteStream['next']> = null;
  /** True once the end was read: `bytes` is the whole body. */
  isWhole = false;

  constructor(body: ByteStream) {
    this.#body = body;
  }

  /** The bytes read so far. */
  get bytes(): Uint8Array {
    return this.#read.join();
  }

  /** The same, for work that a thread does if they are many. Other calls have their turns meanwhile. */
  async share(): Promise<Uint8Array> {
    return isLarge(this) ? await shareInSlices(this.#read.pieces) : this.bytes;
  }

  /** Number of bytes read so far. */
  get length(): number {
    return this.#read.length;
  }

  /**
   * Reads what has arrived, without waiting, until more than `bytesMax` bytes are read. True if the whole body is read
   * and fits.
   */
  readArrived(bytesMax: number): boolean {
    while (!this.isWhole && this.length <= bytesMax) {
      const read = this.next();
      if (read instanceof Promise) {
        // The next read rejects.
        read.catch(() => {});
        this.#pending = read;
        return false;
      }
      this.#keep(read);
    }
    return this.isWhole && this.length <= bytesMax;
  }

  async readMore(): Promise<void> {
    this.#keep(await this.next());
  }

  /** Reads until the end, or until more than `bytesMax` bytes are read. True if the whole body is read and fits. */
  async readWhole(bytesMax: number): Promise<boolean> {
    const pauseAfter = createPauses(READ_BYTES_MAX);
    while (!this.isWhole && this.length <= bytesMax) {
      const before = this.length;
      await this.readMore();
      await pauseAfter(this.length - before);
    }
    return this.isWhole && this.length <= bytesMax;
  }

  /**
   * Reads until the end, until `timeoutMs` has passed, or until more than `bytesMax` bytes are read. Loses no bytes.
   */
  async readMoreWithin(timeoutMs: number, bytesMax: number): Promise<void> {
    const timeLimit = Promise.withResolvers<typeof LATE>();
    // One time limit for all pieces: the pieces of a slow answer may each arrive soon, without end. If this process was
    // busy, pieces may have arrived unread. They are read before the setImmediate callback runs.
    const timer = setTimeout(() => setImmediate(timeLimit.resolve, LATE), timeoutMs);
    try {
      while (!this.isWhole && this.length <= bytesMax) {
        const read = this.next();
        const piece = read instanceof Promise ? await Promise.race([read, timeLimit.promise]) : read;
        if (piece === LATE) {
          this.#pending = read;
          return;
        }
        this.#keep(piece);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const pending = this.#pending;
    if (pending === null) return this.#body.next();
    this.#pending = null;
    return pending;
  }

  cancel(): void {
    this.#body.cancel();
  }

  #keep(piece: Uint8Array | null): void {
    if (piece === null) this.isWhole = true;
    else this.#read.add(piece);
  }
}
