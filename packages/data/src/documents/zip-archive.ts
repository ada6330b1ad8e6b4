/**
 * Writes files into a ZIP archive as they arrive (APPNOTE.TXT 6.3.10). They are stored as they are, because PDFs are
 * compressed already.
 */
import { crc32 } from 'node:zlib';

const VERSION = 20;
/** Sizes follow the content of a file, and names are UTF-8. */
const FLAGS = 0x0808;
/** 1 January 1980: the time of a document is unknown. */
const DATE = 0x0021;
const SIZE_MAX = 0xffffffff;

interface Entry {
  name: Buffer;
  offset: number;
  crc: number;
  size: number;
}

export class ZipArchive {
  readonly #entries: Entry[] = [];
  readonly #names = new Set<string>();
  #offset = 0;

  /** Begins a file. Returns the bytes that precede its content. */
  begin(name: string): Buffer {
    const entry = { name: Buffer.from(this.#makeUnique(name)), offset: this.#offset, crc: 0, size: 0 };
    this.#entries.push(entry);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(VERSION, 4);
    head.writeUInt16LE(FLAGS, 6);
    head.writeUInt16LE(DATE, 12);
    head.writeUInt16LE(entry.name.length, 26);
    return this.#count(Buffer.concat([head, entry.name]));
  }

  /** Counts a piece of the file, which is passed on as it is. Throws if the archive becomes larger than 4 GiB. */
  take(piece: Uint8Array): void {
    const entry = this.#entries.at(-1)!;
    entry.crc = crc32(piece, entry.crc);
    entry.size += piece.length;
    this.#count(piece);
  }

  /** Ends a file. Returns the bytes that follow its content. */
  finishFile(): Buffer {
    const { crc, size } = this.#entries.at(-1)!;
    const descriptor = Buffer.alloc(16);
    descriptor.writeUInt32LE(0x08074b50, 0);
    writeSizes(descriptor, 4, crc, size);
    return this.#count(descriptor);
  }

  /** Ends the archive. Returns its directory. */
  finish(): Buffer {
    const start = this.#offset;
    const files = this.#entries.map(({ name, offset, crc, size }) => {
      const file = Buffer.alloc(46);
      file.writeUInt32LE(0x02014b50, 0);
      file.writeUInt16LE(VERSION, 4);
      file.writeUInt16LE(VERSION, 6);
      file.writeUInt16LE(FLAGS, 8);
      file.writeUInt16LE(DATE, 14);
      writeSizes(file, 16, crc, size);
      file.writeUInt16LE(name.length, 28);
      file.writeUInt32LE(offset, 42);
      return Buffer.concat([file, name]);
    });
    const directory = Buffer.concat(files);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(files.length, 8);
    end.writeUInt16LE(files.length, 10);
    end.writeUInt32LE(directory.length, 12);
    end.writeUInt32LE(start, 16);
    return Buffer.concat([directory, end]);
  }

  #count<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
    this.#offset += bytes.length;
    if (this.#offset > SIZE_MAX) throw new RangeError('the archive is larger than 4 GiB');
    return bytes;
  }

  /** Two documents can have one name: the second one gets a number. */
  #makeUnique(name: string): string {
    const [, base = name, extension = ''] = /^(.*?)(\.[^.]*)?$/s.exec(name) ?? [];
    let unique = name;
    for (let number = 2; this.#names.has(unique); number++) unique = `${base} (${number})${extension}`;
    this.#names.add(unique);
    return unique;
  }
}

/** The checksum, and the size twice: a stored file is as large as its content. */
function writeSizes(buffer: Buffer, at: number, crc: number, size: number): void {
  buffer.writeUInt32LE(crc, at);
  buffer.writeUInt32LE(size, at + 4);
  buffer.writeUInt32LE(size, at + 8);
}
