/**
 * Writes a package for programs that import it: JavaScript and declarations for each of its sources, and for those of
 * the packages of this repository that it imports.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Manifest } from './manifest.ts';
import { root } from './root.ts';

const COMPILER = join(root, 'node_modules/typescript/bin/tsc');
/** An import of a package of this repository. */
const OWN_IMPORT = /(?<=(?:from |import\()['"])@erp-proxy\/(\w+)(?=['"])/g;
/** An import of a source file. The compiler leaves it as it is in declarations. */
const SOURCE_IMPORT = /(?<=(?:from |import\()['"]\.[^'"]*)\.ts(?=['"])/g;

/** Returns the members of the package.json that name the files. */
export function emitLibrary(source: string, folder: string): Pick<Manifest, 'exports' | 'types'> {
  const dist = join(folder, 'dist');
  compile(source, dist);
  for (const path of globSync('**/*.{js,d.ts}', { cwd: dist })) {
    const file = join(dist, path);
    const text = readFileSync(file, 'utf8')
      .replaceAll(OWN_IMPORT, (_, name: string) => relate(dirname(file), join(dist, name, 'src/index.js')))
      .replaceAll(SOURCE_IMPORT, '.js');
    writeFileSync(file, text);
  }
  const entry = `./dist/${relative('packages', source)}/src/index`;
  const types = `${entry}.d.ts`;
  return {
    types,
    exports: { '.': { types, default: `${entry}.js` }, './package.json': './package.json' },
  };
}

function compile(source: string, outDir: string): void {
  const config = `${outDir}.tsconfig.json`;
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: join(root, 'packages'),
        outDir,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: [],
      files: [join(root, source, 'src/index.ts')],
    }),
  );
  try {
    const { status, stdout } = spawnSync(process.execPath, [COMPILER, '-p', config], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`tsc failed: ${stdout}`);
  } finally {
    rmSync(config);
  }
}

function relate(from: string, to: string): string {
  const path = relative(from, to);
  return path.startsWith('.') ? path : `./${path}`;
}
