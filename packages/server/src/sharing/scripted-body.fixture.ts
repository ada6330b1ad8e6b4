/** A body whose pieces the test provides, and a function that reads a body. */
import { type ByteStream, ByteStreamError } from '../streams/byte-stream.ts';

export class ScriptedBody implements ByteStream {
  readonly #ready: (Uint8Array | null | Error)[] = [];
  #reader: PromiseWithResolvers<Uint8Array | null> | null = null;
  readCount = 0;
  isCancelled = false;

  /** These pieces can be read at once; null is the end. */
  constructor(...ready: (Uint8Array | string | null)[]) {
    for (const item of ready) this.give(typeof item === 'string' ? Buffer.from(item) : item);
  }

  give(item: Uint8Array | null | Error): void {
    const reader = this.#reader;
    this.#reader = null;
    if (reader === null) this.#ready.push(item);
    else if (item instanceof Error) reader.reject(item);
    else reader.resolve(item);
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    if (this.#reader !== null) throw new Error('read twice at once');
    this.readCount++;
    const item = this.#ready.shift();
    if (item instanceof Error) throw item;
    if (item !== undefined) return item;
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  cancel(): void {
    this.isCancelled = true;
    this.#reader?.reject(new ByteStreamError('aborted', 'the reader cancelled'));
    this.#reader = null;
  }
}

/** Reads a whole body as text; rejects if the body fails. */
export async function readText(body: ByteStream): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await body.next(); piece !== null; piece = await body.next()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
