/**
 * Turns the answer to `read` of one record into the file that its last field holds, while the answer arrives. An answer
 * with an error is passed on.
 */

import { type AnswerHeaders, type AnswerWriter, PieceCollector } from '@erp-proxy/async/streams';
import { Denial } from '@erp-proxy/gateway/terms';
import { nameMembers } from '../name-members.ts';
import { Base64Decoder, Base64Error } from './base64.ts';
import {
  type ByteRange,
  describeFile,
  findMediaType,
  readByteRange,
  SIGNATURE_BYTES,
} from './file-headers.ts';
import { readRecordHead } from './record-head.ts';

export interface DownloadWriterOptions {
  /** Receives the file. */
  target: AnswerWriter;
  /** Headers of the file, in addition to those of the answer. */
  headers: AnswerHeaders;
  /** The field with the file, the last one of the record. */
  field: string;
  /** The fields for the name and the media type of the file, which precede it; null if they are not read. */
  nameField: string | null;
  mediaTypeField: string | null;
  /** The field for the size of the file, which precedes it; null if it is not read. */
  sizeField: string | null;
  /** The header `range` of the request. */
  range: string | undefined;
  /** Name for a file without a name, without extension. */
  plainName: string;
  /**
   * Returns why a file without content cannot be sent; null if the file is just empty. `texts`: the values of the
   * preceding fields. `isText`: the value of the file's field is an empty text.
   */
  explainEmpty: (texts: ReadonlyMap<string, string>, isText: boolean) => Denial | null;
  /** Called before each piece of the file. */
  onPiece: () => void;
}

/** More than the preceding fields of any record have. */
const HEAD_BYTES_MAX = 64 * 1024;
const QUOTE = 0x22;

type State =
  /** Before the file: the fields that precede it are being read. */
  | 'head'
  /** The answer is an error, which is being collected. */
  | 'error'
  /** The answer has no file. `denial` says why. */
  | 'denied'
  | 'file'
  /** The whole file was written. The rest of Odoo's answer is skipped. */
  | 'complete'
  /** Another answer was sent. All of Odoo's answer is skipped. */
  | 'sent'
  | 'broken_off';

export class DownloadWriter implements AnswerWriter {
  readonly #options: DownloadWriterOptions;
  /** The bytes of the answer before the file. */
  #collected = new PieceCollector();
  #status = 0;
  #headers: AnswerHeaders = {};
  #decoder = new Base64Decoder();
  #state: State = 'head';
  /** The range to send, and the stated size of the file; null: the whole file. */
  #range: (ByteRange & { readonly size: number }) | null = null;
  /** Number of bytes of the file so far. */
  #position = 0;
  #denial: Denial | 'no_record' | null = null;

  constructor(options: DownloadWriterOptions) {
    this.#options = options;
  }

  /** Why nothing was sent; null if anything was sent. */
  get denial(): Denial | 'no_record' | null {
    return this.#denial;
  }

  get isHeldBack(): boolean {
    return this.#options.target.isHeldBack;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.begin(status, headers);
    void this.write(body);
    this.end();
  }

  begin(status: number, headers: AnswerHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#state === 'file') return this.#writeFile(piece);
    if (this.#state !== 'head' && this.#state !== 'error') return undefined;
    // Copied, because the piece may be a view of a buffer that is used again.
    this.#collected.add(Uint8Array.from(piece));
    return this.#state === 'head' ? this.#readHead() : undefined;
  }

  end(): void {
    const { target } = this.#options;
    if (this.#state === 'error')
      target.sendWhole(this.#status, this.#headers, nameMembers(this.#collected.join(), 'record'));
    else if (this.#state === 'complete') target.end();
    else if (this.#state === 'file') this.breakOff();
    else if (this.#state === 'head') this.#deny(NOT_ONE_RECORD);
  }

  restart(): boolean {
    const isSent = ['file', 'complete', 'sent', 'broken_off'].includes(this.#state);
    if (isSent || !this.#options.target.restart()) return false;
    this.#collected = new PieceCollector();
    this.#state = 'head';
    this.#denial = null;
    return true;
  }

  breakOff(): void {
    if (this.#state === 'sent') return;
    this.#state = 'broken_off';
    this.#denial = null;
    this.#options.target.breakOff();
  }

  #readHead(): Promise<void> | undefined {
    const { field } = this.#options;
    const bytes = this.#collected.join();
    const head = readRecordHead(bytes, field);
    switch (head.kind) {
      case 'incomplete':
        return bytes.length > HEAD_BYTES_MAX ? this.#deny(NOT_ONE_RECORD) : undefined;
      case 'error':
        this.#state = 'error';
        return undefined;
      case 'no_record':
        return this.#deny('no_record');
      case 'no_file':
        return this.#deny(denyNoFile(field));
      case 'empty':
        return this.#sendEmpty(head.texts, false);
      case 'file':
        this.#decoder = new Base64Decoder();
        return this.#writeFile(bytes.subarray(head.start), head.texts);
    }
  }

  #sendEmpty(texts: ReadonlyMap<string, string>, isText: boolean): undefined {
    const { target, headers, explainEmpty } = this.#options;
    const denial = explainEmpty(texts, isText);
    if (denial !== null) return this.#deny(denial);
    target.begin(this.#status, { ...this.#headers, ...headers, ...this.#describe(texts, NO_BYTES) }, 0);
    this.#state = 'complete';
  }

  /** The headers of a file whose first bytes are `bytes`. */
  #describe(texts: ReadonlyMap<string, string>, bytes: Uint8Array): AnswerHeaders {
    const { nameField, mediaTypeField, plainName } = this.#options;
    const found = findMediaType(bytes);
    const name = texts.get(nameField ?? FILENAME) ?? (found ? `${plainName}.${found.extension}` : plainName);
    const mediaType = mediaTypeField === null ? undefined : texts.get(mediaTypeField);
    return describeFile({ name, mediaType: mediaType ?? found?.mediaType ?? null });
  }

  /**
   * `texts`: the preceding fields, for the first piece of the file; null for later pieces. Headers are sent with the
   * first bytes, so that a value that does not begin as base64 still gets an error.
   */
  #writeFile(piece: Uint8Array, texts: ReadonlyMap<string, string> | null = null): Promise<void> | undefined {
    const { target, headers, field, sizeField, onPiece } = this.#options;
    const quote = piece.indexOf(QUOTE);
    const isWhole = quote >= 0;
    const bytes = this.#decode(isWhole ? piece.subarray(0, quote) : piece, isWhole);
    if (bytes === null) {
      if (texts === null) this.breakOff();
      else this.#deny(denyNoFile(field));
      return undefined;
    }
    if (texts !== null) {
      if (bytes.length === 0 && isWhole) return this.#sendEmpty(texts, true);
      // Too few bytes to know the type: the next piece is read together with this one.
      if (bytes.length < SIGNATURE_BYTES && !isWhole)
        return this.#collected.length > HEAD_BYTES_MAX ? this.#deny(NOT_ONE_RECORD) : undefined;
      const described = { ...this.#headers, ...headers, ...this.#describe(texts, bytes) };
      this.#collected = new PieceCollector();
      if (!this.#begin(described, isWhole ? bytes.length : readSize(texts, sizeField), isWhole))
        return undefined;
    }
    this.#state = isWhole ? 'complete' : 'file';
    onPiece();
    const sent = this.#cut(bytes);
    // The file has another size than stated: its parts would not fit the caller's parts of the earlier file.
    if (isWhole && this.#range !== null && this.#position !== this.#range.size) {
      this.breakOff();
      return undefined;
    }
    return sent.length === 0 ? undefined : target.write(sent);
  }

  /**
   * `size`: null if it is not known; then the whole file is sent. Returns false if a whole answer without a file was
   * sent.
   */
  #begin(headers: AnswerHeaders, size: number | null, isWhole: boolean): boolean {
    const { target, range } = this.#options;
    if (size === null) {
      target.begin(this.#status, headers, null);
      return true;
    }
    const found = readByteRange(range, size);
    const accepting = { ...headers, 'accept-ranges': 'bytes' };
    if (found === 'beyond_end') {
      target.sendWhole(416, { ...accepting, 'content-range': `bytes */${size}` }, NO_BYTES);
      this.#state = 'sent';
      return false;
    }
    this.#range = found && { ...found, size };
    if (found === null) target.begin(this.#status, accepting, isWhole ? size : null);
    else {
      const { start, end } = found;
      const ranged = { ...accepting, 'content-range': `bytes ${start}-${end}/${size}` };
      target.begin(206, ranged, isWhole ? end - start + 1 : null);
    }
    return true;
  }

  /** The bytes of the piece that are within the range. */
  #cut(bytes: Uint8Array): Uint8Array {
    const before = this.#position;
    this.#position += bytes.length;
    if (this.#range === null) return bytes;
    const { start, end } = this.#range;
    return bytes.subarray(Math.max(0, start - before), Math.max(0, end + 1 - before));
  }

  /** Null if the digits are not base64. */
  #decode(digits: Uint8Array, isWhole: boolean): Uint8Array | null {
    try {
      const bytes = this.#decoder.decode(digits);
      if (isWhole) this.#decoder.end();
      return bytes;
    } catch (error) {
      if (error instanceof Base64Error) return null;
      throw error;
    }
  }

  #deny(denial: Denial | 'no_record'): undefined {
    this.#denial = denial;
    this.#state = 'denied';
    this.#collected = new PieceCollector();
  }
}

/** The name within the value of a file, from Odoo 19.5 on. */
const FILENAME = 'filename';
const NO_BYTES = new Uint8Array(0);

const NOT_ONE_RECORD = new Denial('upstream_bad_response', 'The answer of Odoo is not that of one record.', {
  isReadOnly: true,
});

function readSize(texts: ReadonlyMap<string, string>, sizeField: string | null): number | null {
  const size = Number(sizeField === null ? undefined : texts.get(sizeField));
  return Number.isSafeInteger(size) && size > 0 ? size : null;
}

function denyNoFile(field: string): Denial {
  return new Denial(
    'invalid_params',
    `\`field\` must be the name of a binary field: the value of \`${field}\` is no file.`,
    { path: 'field' },
  );
}
