/**
 * Bundles the program once for a run of heavy tests: they then start the program that users install, which takes half
 * the processor time of a start from the sources.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../../../../scripts/pack/bundle-program.ts';
import { copyConsole } from '../../../../scripts/pack/copy-console.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * Runs before each project of heavy tests. The folder is in `node_modules`, where the bundle finds its dependencies.
 */
export default async function bundleForTests(): Promise<(() => void) | undefined> {
  // The other project of this run has already bundled it.
  if (process.env['BUNDLED_PROGRAM'] !== undefined) return undefined;
  const parent = join(root, 'node_modules/.cache');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'erp-proxy-'));
  await bundleProgram(folder);
  copyConsole(join(root, 'packages/console'), folder);
  copyFileSync(join(root, 'packages/server/package.json'), join(folder, 'package.json'));
  process.env['BUNDLED_PROGRAM'] = join(folder, 'bin/erp-proxy.mjs');
  return () => rmSync(folder, { recursive: true, force: true });
}
