/** Puts the built console into the folder of a package. The build contains what the page depends on. */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies `dist` of the console's package. Returns the name of the copy in the package; an empty list if there is no
 * console.
 */
export function copyConsole(source: string, folder: string): readonly string[] {
  if (!existsSync(source)) return [];
  const built = join(source, 'dist');
  if (!existsSync(join(built, 'index.html'))) {
    throw new Error('The console is not built: run "npm run build", then pack again.');
  }
  cpSync(built, join(folder, 'console'), { recursive: true });
  return ['console'];
}
