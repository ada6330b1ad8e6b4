/** The content of a file as a JSON value: base64 on the wire, which is written in pieces and never kept as text. */
import { createHash } from 'node:crypto';

export class Binary {
  /** In bytes. */
  readonly size: number;
  /** Creates the bytes in pieces, the same at each call. */
  readonly chunks: () => Iterable<Buffer>;
  #checksum: string | undefined;

  constructor(size: number, chunks: () => Iterable<Buffer>) {
    this.size = size;
    this.chunks = chunks;
  }

  static of(pieces: readonly Buffer[]): Binary {
    return new Binary(
      pieces.reduce((sum, piece) => sum + piece.length, 0),
      () => pieces,
    );
  }

  get base64Length(): number {
    return 4 * Math.ceil(this.size / 3);
  }

  /** The SHA-1 of the bytes in hexadecimal, as Odoo stores it. */
  get checksum(): string {
    if (this.#checksum === undefined) {
      const hash = createHash('sha1');
      for (const chunk of this.chunks()) hash.update(chunk);
      this.#checksum = hash.digest('hex');
    }
    return this.#checksum;
  }

  *base64(): Generator<Buffer> {
    // Base64 of a piece without padding needs a multiple of 3 bytes.
    let rest: Buffer = Buffer.alloc(0);
    for (const chunk of this.chunks()) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      const whole = bytes.length - (bytes.length % 3);
      rest = bytes.subarray(whole);
      if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1');
    }
    if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
  }

  toBase64(): string {
    return Buffer.concat([...this.base64()]).toString('latin1');
  }
}

const blockSize = 65_535;

/** A file of any size with the same bytes each time, which takes no memory. */
export function generateBinary(size: number): Binary {
  return new Binary(size, function* () {
    for (let start = 0; start < size; start += blockSize) {
      const block = Buffer.from(pattern.subarray(0, Math.min(blockSize, size - start)));
      if (block.length >= 6) block.writeUIntBE(start, 0, 6);
      yield block;
    }
  });
}

/** Bytes of every value, without a short period. */
const pattern = Buffer.alloc(blockSize);
for (let index = 0, state = 1; index < blockSize; index++) {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  pattern[index] = state >>> 16;
}
