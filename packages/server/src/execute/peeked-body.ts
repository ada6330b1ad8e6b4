/** A body whose first part has been looked at: what was read is kept in one piece, and reading goes on from there. */
import type { EgressBody } from '../egress/dispatcher.ts';

const LATE = Symbol('late');

export class PeekedBody implements EgressBody {
  readonly #body: EgressBody;
  #pieces: Uint8Array[] = [];
  /** A read that was given up waiting for: its bytes come first when reading goes on. */
  #outstanding: Promise<Uint8Array | null> | null = null;
  /** Bytes read so far. */
  length = 0;
  /** True once the end was read: `bytes` is the whole body. */
  isWhole = false;

  constructor(body: EgressBody) {
    this.#body = body;
  }

  /** What has been read so far. */
  get bytes(): Uint8Array {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces, this.length)];
    return this.#pieces[0] as Uint8Array;
  }

  async readMore(): Promise<void> {
    this.#keep(await this.next());
  }

  /** False if nothing more came within the time; nothing is lost by that. */
  async readMoreWithin(timeoutMs: number): Promise<boolean> {
    const read = this.next();
    if (!(read instanceof Promise)) {
      this.#keep(read);
      return true;
    }
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<typeof LATE>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, LATE);
    });
    const piece = await Promise.race([read, patience]).finally(() => clearTimeout(timer));
    if (piece === LATE) {
      this.#outstanding = read;
      return false;
    }
    this.#keep(piece);
    return true;
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
    if (piece === null) {
      this.isWhole = true;
      return;
    }
    this.#pieces.push(piece);
    this.length += piece.length;
  }
}
