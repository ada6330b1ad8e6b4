/** Builds the console before the tests if its sources are newer than what was built. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(folder, 'dist/index.html');

export default async function buildPage(): Promise<void> {
  const builtMs = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' });
  const files = ['index.html', 'package.json', 'vite.config.ts', ...sources.map((path) => join('src', path))];
  if (files.every((path) => statSync(join(folder, path)).mtimeMs < builtMs)) return;
  const { build } = await import('vite');
  await build({ configFile: join(folder, 'vite.config.ts'), logLevel: 'warn' });
}
