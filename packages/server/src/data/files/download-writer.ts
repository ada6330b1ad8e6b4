/**
 * Turns the answer to `read` of one record into the file in one of its fields, as the answer arrives. An answer with an
 * error is passed on.
 */
import { Denial } from '../../execute/terms/denial.ts';
import type { AnswerHeaders, AnswerWriter } from '../../streams/answer-writer.ts';
import { PieceCollector } from '../../streams/piece-collector.ts';
import { nameMembers } from '../name-members.ts';
import { Base64Decoder, Base64Error } from './base64-decoder.ts';
import { describeFile } from './file-headers.ts';
import { readRecordHead } from './record-head.ts';

export interface DownloadWriterOptions {
  /** Gets the file. */
  target: AnswerWriter;
  /** Further headers of the file. */
  headers: AnswerHeaders;
  /** The field with the file. It is the last one of the record. */
  field: string;
  /** The fields before it with name and media type of the file; null if they are not asked for. */
  nameField: string | null;
  mediaTypeField: string | null;
  /** Called before each piece of the file. */
  onPiece: () => void;
}

/** More than the other fields of a record that are asked for. */
const HEAD_BYTES_MAX = 64 * 1024;
const QUOTE = 0x22;

type State =
  /** The file has not begun. */
  | 'head'
  /** The answer is an error, which is collected. */
  | 'error'
  /** The answer has no file. `denial` says why. */
  | 'denied'
  | 'file'
  /** The whole file was written. The rest of the answer is skipped. */
  | 'complete'
  | 'broken_off';

export class DownloadWriter implements AnswerWriter {
  readonly #options: DownloadWriterOptions;
  /** The answer so far, until the file begins. */
  #collected = new PieceCollector();
  #status = 0;
  #headers: AnswerHeaders = {};
  #decoder = new Base64Decoder();
  #state: State = 'head';
  #denial: Denial | 'no_record' | null = null;

  constructor(options: DownloadWriterOptions) {
    this.#options = options;
  }

  /** Why nothing was sent; null if something was. */
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
    // A piece may be a view of a buffer that is used again.
    this.#collected.add(Uint8Array.from(piece));
    return this.#state === 'head' ? this.#readHead() : undefined;
  }

  end(): void {
    const { target } = this.#options;
    if (this.#state === 'error')
      target.sendWhole(this.#status, this.#headers, nameMembers(this.#collected.join()));
    else if (this.#state === 'complete') target.end();
    else if (this.#state === 'file') this.breakOff();
    else if (this.#state === 'head') this.#deny(NOT_ONE_RECORD);
  }

  restart(): boolean {
    const isSent = this.#state === 'file' || this.#state === 'complete' || this.#state === 'broken_off';
    if (isSent || !this.#options.target.restart()) return false;
    this.#collected = new PieceCollector();
    this.#state = 'head';
    this.#denial = null;
    return true;
  }

  breakOff(): void {
    this.#state = 'broken_off';
    this.#denial = null;
    this.#options.target.breakOff();
  }

  #readHead(): Promise<void> | undefined {
    const { target, headers, field, nameField, mediaTypeField } = this.#options;
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
        target.begin(this.#status, { ...this.#headers, ...headers, ...describeFile(NOTHING_KNOWN) }, 0);
        this.#state = 'complete';
        return undefined;
      case 'file': {
        const find = (name: string | null) => (name === null ? null : (head.texts.get(name) ?? null));
        const file = describeFile({ name: find(nameField), mediaType: find(mediaTypeField) });
        this.#decoder = new Base64Decoder();
        return this.#writeFile(bytes.subarray(head.start), file);
      }
    }
  }

  /**
   * `file`: the headers of a file that begins with this piece. They are sent with the first bytes, so that a value that
   * does not begin as base64 still gets an error.
   */
  #writeFile(piece: Uint8Array, file: AnswerHeaders | null = null): Promise<void> | undefined {
    const { target, headers, field, onPiece } = this.#options;
    const quote = piece.indexOf(QUOTE);
    const isWhole = quote >= 0;
    const bytes = this.#decode(isWhole ? piece.subarray(0, quote) : piece, isWhole);
    if (bytes === null) {
      if (file === null) this.breakOff();
      else this.#deny(denyNoFile(field));
      return undefined;
    }
    if (file !== null) {
      // Not a single group of digits yet: the next piece is read with this one.
      if (bytes.length === 0 && !isWhole)
        return this.#collected.length > HEAD_BYTES_MAX ? this.#deny(NOT_ONE_RECORD) : undefined;
      target.begin(this.#status, { ...this.#headers, ...headers, ...file }, isWhole ? bytes.length : null);
      this.#collected = new PieceCollector();
    }
    this.#state = isWhole ? 'complete' : 'file';
    onPiece();
    return bytes.length === 0 ? undefined : target.write(bytes);
  }

  /** Null if it is no base64. */
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

const NOTHING_KNOWN = { name: null, mediaType: null };

const NOT_ONE_RECORD = new Denial('upstream_bad_response', 'The answer of Odoo is not that of one record.', {
  isReadOnly: true,
});

function denyNoFile(field: string): Denial {
  return new Denial(
    'invalid_params',
    `\`field\` must be the name of a binary field: the value of \`${field}\` is no file.`,
    { path: 'field' },
  );
}
