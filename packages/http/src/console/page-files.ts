/**
 * Reads the built console from its folder: `index.html` and the files of `assets/`, each with its compressed forms.
 * Only files that this function lists can be served. Knows no request.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import {
  FILE_ENCODINGS,
  type FileEncoding,
  type FileKind,
  makeServedFile,
  type ServedFile,
} from '../send-file.ts';

export interface PageFile extends ServedFile {
  /** Path of the file, relative to the folder. */
  name: string;
}

const KINDS: Readonly<Record<string, FileKind>> = {
  '.html': { type: 'text/html; charset=utf-8', isCompressible: true },
  '.js': { type: 'text/javascript; charset=utf-8', isCompressible: true },
  '.css': { type: 'text/css; charset=utf-8', isCompressible: true },
  '.svg': { type: 'image/svg+xml', isCompressible: true },
  '.woff2': { type: 'font/woff2', isCompressible: false },
};
const SUFFIXES: Readonly<Record<FileEncoding, string>> = { br: '.br', gzip: '.gz' };

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
  const forms = new Map<FileEncoding, Promise<Buffer>>();
  for (const encoding of FILE_ENCODINGS) {
    const built = `${name}${SUFFIXES[encoding]}`;
    if (names.includes(built)) forms.set(encoding, Promise.resolve(readFileSync(join(folder, built))));
  }
  return makePageFile(name, readFileSync(join(folder, name)), forms);
}

function makePageFile(name: string, plain: Buffer, forms?: Map<FileEncoding, Promise<Buffer>>): PageFile {
  return { name, ...makeServedFile(KINDS[extname(name)] as FileKind, plain, forms) };
}
