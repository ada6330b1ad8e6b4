/** A stream whose pieces the test provides, and a function that reads a stream as text. */
import { type ByteStream, ByteStreamError, readStream } from '../src/streams/byte-stream.ts';

export class ScriptedStream implements ByteStream {
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
    if (this.#reader !== null) throw new Error('next() was called while another next() is pending');
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

/** Reads a whole stream as text; rejects if the stream fails. */
export async function readText(stream: ByteStream): Promise<string> {
  return (await readStream(stream)).toString();
}
