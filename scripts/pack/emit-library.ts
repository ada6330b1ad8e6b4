/**
 * Writes a package for programs that import it: JavaScript and declarations for each of its sources, and for the
 * sources of this repository's packages that it imports.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import type { Manifest } from './manifest.ts';
import { root } from './root.ts';

const COMPILER = join(root, 'node_modules/typescript/bin/tsc');
/** A package of this repository, or an entry point of one, which is the index of a folder. */
const OWN_PACKAGE = /^@erp-proxy\/(\w+)(?:\/(\w+))?$/;
/** Matches files with schemas, of which only the types are exported. */
const IMPORTS_ZOD = /^import .* from ['"]zod['"];$/m;
/** Matches the name of a source file, which the compiler does not change in declarations. */
const SOURCE_FILE = /^(\..*)\.ts$/;

/** Returns the members of the package.json that name the files. */
export function emitLibrary(source: string, folder: string): Pick<Manifest, 'exports' | 'types'> {
  const dist = join(folder, 'dist');
  const files = compile(source, dist);
  for (const file of files) {
    const code = readFileSync(file, 'utf8');
    const needsZod = IMPORTS_ZOD.test(code);
    if (needsZod && !file.endsWith('.d.ts')) {
      rmSync(file);
      continue;
    }
    if (needsZod) copyZodTypes(dist);
    const text = rewriteImports(file, code, (name) =>
      name
        .replace(/^zod$/, () => relate(dirname(file), join(dist, 'zod/index.js')))
        .replace(OWN_PACKAGE, (_, own: string, entry = '') =>
          relate(dirname(file), join(dist, own, 'src', entry, 'index.js')),
        )
        .replace(SOURCE_FILE, '$1.js'),
    );
    writeFileSync(file, text);
  }
  // Removes files that only pass schemas on.
  for (const file of files) if (existsSync(file) && lacksImport(file)) rmSync(file);
  const entry = `./dist/${relative('packages', source)}/src/index`;
  const types = `${entry}.d.ts`;
  return {
    types,
    exports: { '.': { types, default: `${entry}.js` }, './package.json': './package.json' },
  };
}

function lacksImport(file: string): boolean {
  if (!file.endsWith('.js')) return false;
  const imports = readFileSync(file, 'utf8').matchAll(/ from ['"](\.[^'"]+)['"]/g);
  return [...imports].some(([, path = '']) => !existsSync(join(dirname(file), path)));
}

/** Copies only the declarations of zod: the package has no other use for zod, which takes 8 MB. */
function copyZodTypes(dist: string): void {
  const zod = join(root, 'node_modules/zod');
  for (const path of globSync('{index.d.ts,LICENSE,v4/{classic,core,locales}/*.d.ts}', { cwd: zod }))
    cpSync(join(zod, path), join(dist, 'zod', path));
}

/** Returns the files that the compiler has written. */
function compile(source: string, outDir: string): string[] {
  const config = `${outDir}.tsconfig.json`;
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        listEmittedFiles: true,
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
    return [...stdout.matchAll(/^TSFILE: (.+)$/gm)].map(([, file]) => file as string);
  } finally {
    rmSync(config);
  }
}

/** Changes the names in the imports of a file, and no other text, such as text in a template. */
function rewriteImports(file: string, text: string, rename: (name: string) => string): string {
  const names: { start: number; end: number; value: string }[] = [];
  const note = ({ source }: { source: unknown }) => {
    if (isText(source)) names.push(source);
  };
  const { program, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  new Visitor({
    ImportDeclaration: note,
    ImportExpression: note,
    ExportNamedDeclaration: note,
    ExportAllDeclaration: note,
    TSImportType: note,
  }).visit(program);
  return names
    .toSorted((one, other) => other.start - one.start)
    .reduce(
      (rest, { start, end, value }) => `${rest.slice(0, start + 1)}${rename(value)}${rest.slice(end - 1)}`,
      text,
    );
}

function isText(node: unknown): node is { start: number; end: number; value: string } {
  return typeof node === 'object' && node !== null && 'value' in node && typeof node.value === 'string';
}

function relate(from: string, to: string): string {
  const path = relative(from, to);
  return path.startsWith('.') ? path : `./${path}`;
}
