/** Makes the package that npm publishes, and unpacks it as an installation would. */
import { execFileSync } from 'node:child_process';
import { globSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { OWN_CHECKOUT } from './program.ts';

/** Returns the path of the command. */
export function unpackProgram(folder: string): string {
  execFileSync(process.execPath, [join(OWN_CHECKOUT, 'scripts/pack.ts'), folder]);
  const [tarball = ''] = globSync('erp-proxy-[0-9]*.tgz', { cwd: folder });
  execFileSync('tar', ['-xzf', tarball], { cwd: folder });
  symlinkSync(join(OWN_CHECKOUT, 'node_modules'), join(folder, 'package/node_modules'));
  return join(folder, 'package/bin/erp-proxy.mjs');
}
