/**
 * Bytes in memory that all threads of the process read without copying it. V8 does not count shared memory when it
 * decides whether to collect garbage, so that bodies which nobody uses any more would fill the memory. Therefore a
 * thread that holds shared memory also holds a plain ArrayBuffer of the same length, which V8 counts. Nothing is
 * written to this buffer, so that it takes addresses but no memory.
 */

import { createPauses } from './tasks/create-pauses.ts';

/** Work on more bytes than this takes some milliseconds, and is done in a thread. */
const LARGE_BYTES = 64 * 1024;
/** Shared memory grows in steps of at least this size. */
const STEP_BYTES = 1024 * 1024;
/** Bytes that are copied in one turn of the event loop. Memory that is written for the first time is slow. */
const SLICE_BYTES = 256 * 1024;

/** Whether work that reads all of the bytes must not be done in the main thread. */
export function isLarge({ length }: { length: number }): boolean {
  return length > LARGE_BYTES;
}

/** The plain buffers that V8 counts, by the shared memory that they stand for in this thread. */
const counted = new WeakMap<ArrayBufferLike, ArrayBuffer>();

/** Collects pieces into shared memory. Memory is taken as pieces arrive. */
export class SharedCollector {
  readonly #memory: SharedArrayBuffer;
  readonly #count: ArrayBuffer;
  readonly #bytesMax: number;
  length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#memory = new SharedArrayBuffer(0, { maxByteLength: bytesMax });
    this.#count = new ArrayBuffer(0, { maxByteLength: bytesMax });
    counted.set(this.#memory, this.#count);
  }

  /** Throws a RangeError if there are more than `bytesMax` bytes. */
  add(piece: Uint8Array): void {
    const length = this.length + piece.length;
    if (length > this.#memory.byteLength) this.#grow(length);
    // A view of fixed length: V8 reads it as fast as memory that cannot grow.
    new Uint8Array(this.#memory, this.length, piece.length).set(piece);
    this.length = length;
  }

  /** All bytes so far. */
  join(): Buffer {
    return viewShared(this.#memory, 0, this.length);
  }

  #grow(length: number): void {
    const wanted = Math.max(length, this.#memory.byteLength + STEP_BYTES);
    const size = Math.max(length, Math.min(wanted, this.#bytesMax));
    this.#memory.grow(size);
    this.#count.resize(size);
  }
}

/** Copies the bytes into shared memory, unless they are there. */
export function shareBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes;
  const collector = new SharedCollector(bytes.length);
  collector.add(bytes);
  return collector.join();
}

/**
 * Joins the pieces in shared memory, with turns of the event loop in between, for bytes that would take long to copy. A
 * single piece that is shared is not copied.
 */
export async function shareInSlices(pieces: readonly Uint8Array[]): Promise<Uint8Array> {
  const [first] = pieces;
  if (pieces.length === 1 && first?.buffer instanceof SharedArrayBuffer) return first;
  const collector = new SharedCollector(pieces.reduce((length, piece) => length + piece.length, 0));
  const pauseAfter = createPauses(SLICE_BYTES);
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      const slice = piece.subarray(at, at + SLICE_BYTES);
      collector.add(slice);
      await pauseAfter(slice.length);
    }
  }
  return collector.join();
}

/** Counts memory that another thread has made, for as long as this thread holds it. */
export function countMemory(memory: SharedArrayBuffer): void {
  const { byteLength } = memory;
  counted.set(memory, new ArrayBuffer(byteLength, { maxByteLength: byteLength }));
}

/** A view with Buffer's methods. */
export function viewShared(memory: SharedArrayBuffer, start: number, length: number): Buffer {
  return Buffer.from(memory as unknown as ArrayBuffer, start, length);
}
