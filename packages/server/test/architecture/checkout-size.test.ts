/** A checkout stays small: `npm ci` ends with scripts/trim-modules.mjs, which removes what nobody reads. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './repository-files.ts';

const LIMIT_MIB = 350;
const BLOCK_BYTES = 4096;
/** Elsewhere npm installs other programs, of other sizes. */
const isMeasured = process.platform === 'linux' && process.arch === 'x64';

test.skipIf(!isMeasured)(`node_modules takes less than ${LIMIT_MIB} MiB of disk, on Linux on x64`, () => {
  const modules = join(root, 'node_modules');
  // Names with a dot: caches of tools, links to programs, and npm's list of packages.
  const packages = readdirSync(modules).filter((name) => !name.startsWith('.'));
  const mib = packages.reduce((sum, name) => sum + measureBytes(join(modules, name)), 0) / 2 ** 20;
  expect(mib, 'Add what nobody reads to scripts/trim-modules.mjs, then run npm ci.').toBeLessThan(LIMIT_MIB);
});

/** In whole blocks, as file systems store it. Follows no links: workspaces are links. */
function measureBytes(path: string): number {
  const stats = lstatSync(path);
  const own = Math.ceil(stats.size / BLOCK_BYTES) * BLOCK_BYTES;
  if (!stats.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + measureBytes(join(path, name)), own);
}
