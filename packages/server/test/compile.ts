/** For tests: compiles a file as an application in a browser does, strictly and without the types of Node. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns what the compiler prints; empty if it finds nothing. `file` is in the folder. */
export function compile(
  folder: string,
  file: string,
  changes: object = {},
  flags: readonly string[] = [],
): string {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    lib: ['es2023', 'dom'],
    types: [],
    module: 'nodenext',
    allowImportingTsExtensions: true,
    paths: { '@erp-proxy/client': [`${ROOT}packages/client/src/index.ts`] },
    ...changes,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  return spawnSync(tsc, ['-p', folder, '--pretty', 'false', ...flags], { cwd: folder, encoding: 'utf8' })
    .stdout;
}
