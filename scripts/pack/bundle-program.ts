/**
 * Bundles the program: its sources, the contract and the sandbox become few files of JavaScript, which load faster than
 * several hundred. Dependencies from npm stay outside.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './root.ts';

const SOURCE = join(root, 'packages/server');
const BIN = 'bin/erp-proxy.mjs';
const ENTRIES = {
  main: 'src/main.ts',
  // A thread starts from a file of its own, whose name is in src/stores/sqlite/thread.ts.
  worker: 'src/stores/sqlite/worker.mjs',
};
const FOREIGN = /^(?!@erp-proxy\/)[@\w]/;

export async function bundleProgram(folder: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(SOURCE, path)])),
    platform: 'node',
    external: FOREIGN,
  });
  await bundle.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    // All in one folder: the thread and the package.json are found relative to the file that names them.
    entryFileNames: ({ name }) => (name === 'worker' ? 'worker.mjs' : '[name].js'),
    chunkFileNames: '[name]-[hash].js',
    sourcemap: false,
  });
  await bundle.close();
  writeBin(folder);
}

/** The same entry as in the repository, which starts the bundle in place of the sources. */
function writeBin(folder: string): void {
  const text = readFileSync(join(SOURCE, BIN), 'utf8');
  const adapted = text.replace("'../src/main.ts'", "'../dist/main.js'");
  if (adapted === text) throw new Error(`${BIN} does not import src/main.ts`);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, BIN), adapted, { mode: 0o755 });
}
