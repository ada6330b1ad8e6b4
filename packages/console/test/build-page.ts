/** Builds the console before the tests if its sources are newer than what was built. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(folder, 'dist/index.html');

export default function buildPage(): void {
  const builtMs = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' });
  const files = ['index.html', 'package.json', 'vite.config.ts', ...sources.map((path) => join('src', path))];
  if (files.every((path) => statSync(join(folder, path)).mtimeMs < builtMs)) return;
  // A process of its own: the environment of the tests would make Vite build for development.
  execFileSync('npm', ['run', '-s', 'build'], {
    cwd: join(folder, '../..'),
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'inherit',
  });
}
