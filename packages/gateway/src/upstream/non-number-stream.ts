/** Watches the bytes of a long result for values that are no JSON, such as `NaN`. Keeps a few bytes of each piece. */

import { type ByteStream, ByteStreamError } from '@erp-proxy/async/streams';
import { createPauses } from '@erp-proxy/async/tasks';
import {
  BEFORE_BYTES,
  findNonNumbers,
  ListedNonNumbers,
  mayHaveNonNumber,
  type NonNumber,
  NULL,
  VALUE_BYTES,
} from '@erp-proxy/odoo/values';

const NOTHING = Buffer.alloc(0);
/** Number of values that are replaced without a pause. A piece full of them would block the event loop. */
const VALUES_AT_ONCE = 2000;
/** A beginning of NaN or Infinity at the end of a piece. */
const BEGINNING = /(?<![A-Za-z])(?:-?(?:N|Na|I[a-z]{0,6})|-)$/;

/** A result that must pass unchanged contains NaN or Infinity. */
export class NonNumberError extends ByteStreamError {
  /** Null: the value is an element of a list. */
  readonly field: string | null;

  constructor(field: string | null) {
    const place = field === null ? 'a list' : `the field ${field}`;
    super('broken_off', `NaN or Infinity in ${place}, which JSON cannot express`);
    this.field = field;
  }
}

/**
 * `records`: values are members of records. `lists`: they can be elements of lists too, so that each byte must be read.
 */
export type NonNumberPlaces = 'records' | 'lists';

/** Replaces each NaN and Infinity by `null`. `onFound` gets the field of each. */
export class ReplacedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #listed: ListedNonNumbers | null;
  readonly #onFound: (field: string) => void;
  readonly #pauseAfter = createPauses(VALUES_AT_ONCE);
  /** The last bytes that have arrived, and how many of them wait for what follows. */
  #last: Uint8Array = NOTHING;
  #heldBytes = 0;
  #isEnded = false;

  constructor(source: ByteStream, places: NonNumberPlaces, onFound: (field: string) => void) {
    this.#source = source;
    this.#listed = places === 'lists' ? new ListedNonNumbers() : null;
    this.#onFound = onFound;
  }

  async next(): Promise<Uint8Array | null> {
    while (!this.#isEnded) {
      const piece = await this.#source.next();
      this.#isEnded = piece === null;
      const given = await this.#replace(piece ?? NOTHING);
      if (given.length > 0) return given;
    }
    return null;
  }

  cancel(): void {
    this.#source.cancel();
  }

  async #replace(piece: Uint8Array): Promise<Uint8Array> {
    const bytes = Buffer.concat([this.#last, piece]);
    const given: Uint8Array[] = [];
    let at = this.#last.length - this.#heldBytes;
    const ending = bytes.toString('latin1', Math.max(0, bytes.length - VALUE_BYTES));
    this.#heldBytes = this.#isEnded ? 0 : (BEGINNING.exec(ending)?.[0].length ?? 0);
    const to = bytes.length - this.#heldBytes;
    for (const { start, end, field } of this.#find(bytes, at, to)) {
      given.push(bytes.subarray(at, start), NULL);
      this.#onFound(field ?? '');
      at = end;
      await this.#pauseAfter(1);
    }
    given.push(bytes.subarray(at, to));
    this.#last = Buffer.from(bytes.subarray(-BEFORE_BYTES - this.#heldBytes));
    return given.length === 1 ? given[0]! : Buffer.concat(given);
  }

  #find(bytes: Uint8Array, from: number, to: number): Iterable<NonNumber> {
    if (this.#listed !== null) return this.#listed.find(bytes, from, to);
    return mayHaveNonNumber(bytes) ? findNonNumbers(bytes, from) : [];
  }
}

/** Passes the bytes as they are, and breaks off behind the first NaN or Infinity, of which it tells `onFound`. */
export class CheckedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #listed: ListedNonNumbers | null;
  readonly #onFound: () => void;
  /** The end of what has passed. */
  #before: Uint8Array = NOTHING;

  constructor(source: ByteStream, places: NonNumberPlaces, onFound: () => void) {
    this.#source = source;
    this.#listed = places === 'lists' ? new ListedNonNumbers() : null;
    this.#onFound = onFound;
  }

  async next(): Promise<Uint8Array | null> {
    return this.#check(await this.#source.next());
  }

  cancel(): void {
    this.#source.cancel();
  }

  #check(piece: Uint8Array | null): Uint8Array | null {
    if (piece === null) return null;
    const found = this.#listed === null ? this.#findMember(piece) : this.#findListed(piece, this.#listed);
    if (found === null) return piece;
    this.#source.cancel();
    this.#onFound();
    throw new NonNumberError(found.field);
  }

  #findListed(piece: Uint8Array, listed: ListedNonNumbers): NonNumber | null {
    const bytes = Buffer.concat([this.#before, piece]);
    const [found] = listed.find(bytes, this.#before.length, bytes.length);
    this.#before = Buffer.from(bytes.subarray(-BEFORE_BYTES));
    return found ?? null;
  }

  #findMember(piece: Uint8Array): NonNumber | null {
    const keptBytes = BEFORE_BYTES + VALUE_BYTES;
    // A name can end at the beginning of the piece, with its value behind it.
    const border = Buffer.concat([this.#before, piece.subarray(0, keptBytes)]);
    this.#before = Buffer.from(
      piece.length < keptBytes ? border.subarray(-keptBytes) : piece.subarray(-keptBytes),
    );
    return findFirst(border) ?? (piece.length > keptBytes ? findFirst(piece) : null);
  }
}

function findFirst(bytes: Uint8Array): NonNumber | null {
  const [found] = mayHaveNonNumber(bytes) ? findNonNumbers(bytes, 0) : [];
  return found ?? null;
}
