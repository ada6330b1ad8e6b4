/** Watches the bytes of a long result for values that are no JSON, such as `NaN`. Keeps a few bytes of each piece. */
import {
  BEFORE_BYTES,
  findNonNumbers,
  mayHaveNonNumber,
  NULL,
  VALUE_BYTES,
} from '../../odoo/values/non-numbers.ts';
import { type ByteStream, ByteStreamError } from '../../streams/byte-stream.ts';
import { createPauses } from '../../streams/create-pauses.ts';

const NOTHING = Buffer.alloc(0);
/** Bytes that are searched at once: a piece can have thousands of such values. */
const SLICE_BYTES = 32 * 1024;
const VALUES_AT_ONCE = 2000;

/** A result that was to pass unchanged has such a value. */
export class NonNumberError extends ByteStreamError {
  readonly field: string;

  constructor(field: string) {
    super('broken_off', `NaN or Infinity in the field ${field}, which JSON cannot express`);
    this.field = field;
  }
}

/** Gives `null` in place of each such value. `onFound` gets the first field that has one. */
export class ReplacedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #onFound: (field: string) => void;
  /** What is left of the piece that is searched. */
  #rest: Uint8Array = NOTHING;
  /** A piece full of such values would keep the event loop. */
  readonly #pause = createPauses(VALUES_AT_ONCE);
  /** Bytes that were given already, and those that wait for what follows. */
  #before: Uint8Array = NOTHING;
  #held: Uint8Array = NOTHING;
  #isEnded = false;

  constructor(source: ByteStream, onFound: (field: string) => void) {
    this.#source = source;
    this.#onFound = onFound;
  }

  async next(): Promise<Uint8Array | null> {
    while (!this.#isEnded) {
      if (this.#rest.length === 0) {
        const piece = await this.#source.next();
        this.#isEnded = piece === null;
        this.#rest = piece ?? NOTHING;
      }
      const slice = this.#rest.subarray(0, SLICE_BYTES);
      this.#rest = this.#rest.subarray(SLICE_BYTES);
      const { given, count } = this.#replace(slice);
      await this.#pause(count);
      if (given.length > 0) return given;
    }
    return null;
  }

  cancel(): void {
    this.#source.cancel();
  }

  #replace(piece: Uint8Array): { given: Uint8Array; count: number } {
    const bytes = Buffer.concat([this.#before, this.#held, piece]);
    const given: Uint8Array[] = [];
    let at = this.#before.length;
    let count = 0;
    const end = this.#isEnded ? bytes.length : Math.max(at, bytes.length - VALUE_BYTES);
    for (const found of findNonNumbers(bytes, at)) {
      if (found.start >= end) break;
      given.push(bytes.subarray(at, found.start), NULL);
      this.#onFound(found.field ?? '');
      at = found.end;
      count++;
    }
    if (at < end) given.push(bytes.subarray(at, end));
    const next = Math.max(at, end);
    this.#before = Buffer.from(bytes.subarray(Math.max(0, next - BEFORE_BYTES), next));
    this.#held = Buffer.from(bytes.subarray(next));
    return { given: given.length === 1 ? given[0]! : Buffer.concat(given), count };
  }
}

/** Passes the bytes as they are, and breaks off behind the first such value. `onFound` is told. */
export class CheckedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #onFound: () => void;
  /** The end of what has passed. */
  #before: Uint8Array = NOTHING;

  constructor(source: ByteStream, onFound: () => void) {
    this.#source = source;
    this.#onFound = onFound;
  }

  next(): ReturnType<ByteStream['next']> {
    const piece = this.#source.next();
    return piece instanceof Promise ? piece.then((bytes) => this.#check(bytes)) : this.#check(piece);
  }

  nextBorrowed(): ReturnType<ByteStream['next']> {
    const piece = this.#source.nextBorrowed?.() ?? this.#source.next();
    return piece instanceof Promise ? piece.then((bytes) => this.#check(bytes)) : this.#check(piece);
  }

  cancel(): void {
    this.#source.cancel();
  }

  #check(piece: Uint8Array | null): Uint8Array | null {
    if (piece === null) return null;
    const field = this.#find(piece);
    if (field === null) return piece;
    this.#source.cancel();
    this.#onFound();
    throw new NonNumberError(field);
  }

  #find(piece: Uint8Array): string | null {
    const keptBytes = BEFORE_BYTES + VALUE_BYTES;
    // A name can end at the beginning of the piece, with its value behind it.
    const border = Buffer.concat([this.#before, piece.subarray(0, keptBytes)]);
    this.#before = Buffer.from(
      piece.length < keptBytes ? border.subarray(-keptBytes) : piece.subarray(-keptBytes),
    );
    return findFirst(border) ?? (piece.length > keptBytes ? findFirst(piece) : null);
  }
}

/** The field of the first one. */
function findFirst(bytes: Uint8Array): string | null {
  if (!mayHaveNonNumber(bytes)) return null;
  const [found] = findNonNumbers(bytes, 0);
  return found?.field ?? null;
}
