/**
 * Reads the built console from its folder: `index.html` and the files of `assets/`, each with its compressed forms.
 * Only files that this function lists can be served. Knows no request.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { encodeWhole } from '../encoding.ts';

export type PageEncoding = 'br' | 'gzip';

export interface PageFile {
  /** Path of the file, relative to the folder. */
  name: string;
  type: string;
  /** The ETag of the uncompressed form. */
  etag: string;
  plain: Buffer;
  /** Empty for a file whose format is compressed already. */
  encodings: readonly PageEncoding[];
  /** Returns a compressed form, which is created at most once. */
  encode(encoding: PageEncoding): Promise<Buffer>;
}

interface Kind {
  type: string;
  isCompressible: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  '.html': { type: 'text/html; charset=utf-8', isCompressible: true },
  '.js': { type: 'text/javascript; charset=utf-8', isCompressible: true },
  '.css': { type: 'text/css; charset=utf-8', isCompressible: true },
  '.svg': { type: 'image/svg+xml', isCompressible: true },
  '.woff2': { type: 'font/woff2', isCompressible: false },
};
const SUFFIXES: Readonly<Record<PageEncoding, string>> = { br: '.br', gzip: '.gz' };
const PAGE_ENCODINGS = Object.keys(SUFFIXES) as PageEncoding[];

/** Null if the console was not built. */
export function readPageFiles(folder: string): { index: PageFile; assets: PageFile[] } | null {
  const names = listFiles(folder);
  if (!names.includes('index.html')) return null;
  const assets = listFiles(join(folder, 'assets')).map((name) => `assets/${name}`);
  const isAsset = (name: string) => KINDS[extname(name)] !== undefined;
  return {
    index: readPageFile(folder, 'index.html', names),
    assets: assets.filter(isAsset).map((name) => readPageFile(folder, name, assets)),
  };
}

/** Makes the addresses of files in the page relative, for a path of this depth in folders. */
export function placePage(index: PageFile, depth: number): PageFile {
  const start = depth === 0 ? './' : '../'.repeat(depth);
  return makePageFile(
    index.name,
    Buffer.from(index.plain.toString().replaceAll('"/assets/', `"${start}assets/`)),
  );
}

function listFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** `names`: all files in the same folder. */
function readPageFile(folder: string, name: string, names: readonly string[]): PageFile {
  const forms = new Map<PageEncoding, Promise<Buffer>>();
  for (const encoding of PAGE_ENCODINGS) {
    const built = `${name}${SUFFIXES[encoding]}`;
    if (names.includes(built)) forms.set(encoding, Promise.resolve(readFileSync(join(folder, built))));
  }
  return makePageFile(name, readFileSync(join(folder, name)), forms);
}

/** `forms`: compressed forms that exist already. */
function makePageFile(
  name: string,
  plain: Buffer,
  forms: Map<PageEncoding, Promise<Buffer>> = new Map(),
): PageFile {
  const { type, isCompressible } = KINDS[extname(name)] as Kind;
  return {
    name,
    type,
    etag: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    plain,
    encodings: isCompressible ? PAGE_ENCODINGS : [],
    encode(encoding) {
      const form = forms.get(encoding) ?? encodeWhole(encoding, plain);
      forms.set(encoding, form);
      return form;
    },
  };
}
