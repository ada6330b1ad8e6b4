/** Where the document of a record goes: to the caller as it is, or into an archive. */
import type { AnswerHeaders, AnswerWriter } from '@erp-proxy/async/streams';
import { nameMembers } from '../name-members.ts';
import { readDispositionName } from './pdf-file.ts';
import { ZipArchive } from './zip-archive.ts';

/** Only a file has this header. */
const FILE_HEADER = 'content-disposition';

/** Passes an answer on, with further headers. */
export class DocumentWriter implements AnswerWriter {
  readonly #target: AnswerWriter;
  readonly #describe: () => AnswerHeaders;

  /** `describe`: the headers that the answer must have. */
  constructor(target: AnswerWriter, describe: () => AnswerHeaders) {
    this.#target = target;
    this.#describe = describe;
  }

  get isHeldBack(): boolean {
    return this.#target.isHeldBack;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    const isFile = FILE_HEADER in headers;
    this.#target.sendWhole(
      status,
      { ...this.#describe(), ...headers },
      isFile ? body : nameMembers(body, 'record'),
    );
  }

  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void {
    this.#target.begin(status, { ...this.#describe(), ...headers }, lengthBytes);
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    return this.#target.write(piece);
  }

  end(): void {
    this.#target.end();
  }

  restart(): boolean {
    return this.#target.restart();
  }

  breakOff(): void {
    this.#target.breakOff();
  }
}

/** Writes the documents of several records into one archive, one after the other. */
export class ArchiveWriter {
  readonly #target: AnswerWriter;
  readonly #headers: AnswerHeaders;
  readonly #archive = new ZipArchive();
  #isBegun = false;
  /** True once the answer has ended, as a whole or not: no further document can follow. */
  isOver = false;

  /** `headers`: those of the archive. */
  constructor(target: AnswerWriter, headers: AnswerHeaders) {
    this.#target = target;
    this.#headers = headers;
  }

  /** The writer for the next document. An error is the whole answer, or breaks off an archive that was begun. */
  openEntry(): AnswerWriter {
    const [target, archive] = [this.#target, this.#archive];
    const breakOff = () => {
      this.isOver = true;
      target.breakOff();
    };
    const begin = (headers: AnswerHeaders) => {
      if (!this.#isBegun) target.begin(200, this.#headers, null);
      this.#isBegun = true;
      return target.write(archive.begin(readEntryName(headers)));
    };
    const write = (piece: Uint8Array) => {
      archive.take(piece);
      return target.write(piece);
    };
    return {
      get isHeldBack() {
        return target.isHeldBack;
      },
      sendWhole: (status, headers, body) => {
        if (FILE_HEADER in headers) {
          void begin(headers);
          void write(body);
          void target.write(archive.finishFile());
        } else if (this.#isBegun) breakOff();
        else {
          this.isOver = true;
          target.sendWhole(status, { ...this.#headersOfErrors(), ...headers }, nameMembers(body, 'record'));
        }
      },
      begin: (_status, headers) => void begin(headers),
      write,
      end: () => void target.write(archive.finishFile()),
      restart: () => !this.#isBegun && target.restart(),
      breakOff,
    };
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  breakOff(): void {
    this.isOver = true;
    this.#target.breakOff();
  }

  finish(): void {
    this.isOver = true;
    void this.#target.write(this.#archive.finish());
    this.#target.end();
  }

  #headersOfErrors(): AnswerHeaders {
    return Object.fromEntries(Object.entries(this.#headers).filter(([name]) => !FILE_HEADERS.has(name)));
  }
}

const FILE_HEADERS = new Set([
  'cache-control',
  'content-disposition',
  'content-security-policy',
  'content-type',
  'x-content-type-options',
]);

/** A name without folders. */
function readEntryName(headers: AnswerHeaders): string {
  return (readDispositionName(String(headers[FILE_HEADER])) ?? 'document.pdf').replaceAll('/', '_');
}
