/**
 * Puts the built console into the folder of a package, with the compressed forms that the server sends. The page has no
 * dependencies then: its build contains them.
 */
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** Copies `dist` of the console's package. Returns the copy's name in the package; none if there is no such package. */
export function copyConsole(source: string, folder: string): readonly string[] {
  if (!existsSync(source)) return [];
  const built = join(source, 'dist');
  if (!existsSync(join(built, 'index.html'))) {
    throw new Error('The console is not built: run "npm run build", then pack again.');
  }
  const target = join(folder, 'console');
  cpSync(built, target, { recursive: true, filter: (path) => !isCompressed(relative(built, path)) });
  for (const path of globSync('**/*.{html,js,css,svg}', { cwd: target })) {
    const file = join(target, path);
    const bytes = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(bytes));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
  return ['console'];
}

/** The forms in the tarball are made here, so that they always fit to their files. */
function isCompressed(path: string): boolean {
  return /\.(br|gz)$/.test(path);
}
