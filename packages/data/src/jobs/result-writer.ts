/**
 * Stores the answer of a job as it arrives, sealed, in parts. The answer waits while a part is stored, so that memory
 * does not grow with its size. An error of the answer is read, because the state of the job follows from it.
 */
import { type AnswerHeaders, type AnswerWriter, ByteStreamError } from '@erp-proxy/async/streams';
import { type ErrorBody, LIMIT_HEADER, NULL_FIELD_HEADER } from '@erp-proxy/contract';
import { PART_BYTES } from './job-body.ts';

export interface ResultWriterOptions {
  /** Stores a part. */
  save: (number: number, bytes: Uint8Array) => Promise<void>;
  bytesMax: number;
}

/** Headers of the answer of a call that its result has, too. */
const KEPT_HEADERS = [
  'cache-control',
  'content-disposition',
  'content-security-policy',
  'content-type',
  'idempotency-replayed',
  'preference-applied',
  'x-content-type-options',
  LIMIT_HEADER,
  NULL_FIELD_HEADER,
];
/** The head of an error answer, whose `id` has at most 256 characters. */
const ERROR_ANSWER = /^\{"jsonrpc":"2\.0","id":(?:"(?:[^"\\]|\\.)*"|-?\d+|null),"error":/;
const ERROR_HEAD_BYTES = 4096;
/** A longer error is stored, and not read. */
const ERROR_BYTES_MAX = 1024 * 1024;

export class ResultWriter implements AnswerWriter {
  /** The store is no slow caller. */
  readonly isHeldBack = true;
  readonly #options: ResultWriterOptions;
  #part = Buffer.allocUnsafe(PART_BYTES);
  #filled = 0;
  /** Settles when all parts so far are stored; null: there are none. */
  #storing: Promise<void> | null = null;
  #failure: ByteStreamError | null = null;
  /** 0 until the answer has begun. */
  status = 0;
  headers: AnswerHeaders = {};
  bytes = 0;
  parts = 0;
  isWhole = false;
  isTooLarge = false;
  /** What follows from an error; null: the answer is none. */
  error: (Pick<ErrorBody, 'data'> & { retryAfterSeconds: number }) | null = null;

  constructor(options: ResultWriterOptions) {
    this.#options = options;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.begin(status, headers);
    this.error = readError(status, headers, body);
    try {
      // The end waits until all is stored.
      void this.write(body)?.catch(() => {});
      this.end();
    } catch (error) {
      if (!(error instanceof ByteStreamError)) throw error;
    }
  }

  begin(status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.headers = Object.fromEntries(
      KEPT_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
    );
  }

  /** Throws a {@link ByteStreamError} if the answer is too large, or cannot be stored. */
  write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#failure !== null) throw this.#failure;
    if (this.bytes + piece.length > this.#options.bytesMax) {
      this.isTooLarge = true;
      this.#failure = new ByteStreamError('aborted', 'the result of the job is too large');
      throw this.#failure;
    }
    this.bytes += piece.length;
    for (let start = 0; start < piece.length; ) {
      const end = Math.min(piece.length, start + PART_BYTES - this.#filled);
      this.#part.set(piece.subarray(start, end), this.#filled);
      this.#filled += end - start;
      start = end;
      if (this.#filled === PART_BYTES) this.#store();
    }
    return this.#storing ?? undefined;
  }

  end(): void {
    this.isWhole = true;
  }

  restart(): boolean {
    if (this.parts > 0) return false;
    this.clear();
    return true;
  }

  /** Begins anew, after the parts that were stored have been removed. */
  clear(): void {
    Object.assign(this, { status: 0, headers: {}, bytes: 0, parts: 0 });
    Object.assign(this, { isWhole: false, isTooLarge: false, error: null });
    this.#filled = 0;
    this.#failure = null;
  }

  /** The answer stays incomplete. */
  breakOff(): void {}

  /** Ends the answer before its end: each further piece fails. */
  fail(reason: string): void {
    this.#failure ??= new ByteStreamError('aborted', reason);
  }

  /** Stores the rest. True: the answer is complete, and all of it is stored. */
  async finish(): Promise<boolean> {
    if (this.isWhole && this.#filled > 0) this.#store();
    await this.#storing?.catch(() => {});
    return this.isWhole && this.#failure === null;
  }

  #store(): void {
    const part = this.#part.subarray(0, this.#filled);
    const number = this.parts++;
    this.#part = Buffer.allocUnsafe(PART_BYTES);
    this.#filled = 0;
    const stored = (this.#storing ?? Promise.resolve()).then(() => this.#save(number, part));
    this.#storing = stored;
    const settle = () => {
      if (this.#storing === stored) this.#storing = null;
    };
    stored.then(settle, settle);
  }

  async #save(number: number, part: Uint8Array): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    try {
      await this.#options.save(number, part);
    } catch {
      this.#failure = new ByteStreamError('aborted', 'the store of the job does not answer');
      throw this.#failure;
    }
  }
}

/** Errors are answered as a whole. Null: the answer is none. */
function readError(status: number, headers: AnswerHeaders, body: Uint8Array): ResultWriter['error'] {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, ERROR_HEAD_BYTES));
  if (status === 200 && !ERROR_ANSWER.test(head.toString())) return null;
  const retryAfterSeconds = Number(headers['retry-after'] ?? 0);
  if (body.length > ERROR_BYTES_MAX) return { data: NOT_READ, retryAfterSeconds };
  const { error } = JSON.parse(Buffer.from(body).toString()) as { error: ErrorBody };
  return { data: error.data, retryAfterSeconds };
}

const NOT_READ: ErrorBody['data'] = { type: 'upstream_error', retryable: false };
