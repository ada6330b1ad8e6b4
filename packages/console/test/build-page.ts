/**
 * Builds the console before the tests if its sources, or those of the package contract, are newer than the last build.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(folder, 'dist/index.html');
const SOURCES = [join(folder, 'src'), join(folder, '../contract/src')];

export default function buildPage(): void {
  const builtMs = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const files = [
    ...['index.html', 'package.json', 'vite.config.ts'].map((name) => join(folder, name)),
    ...SOURCES.flatMap((source) => [source, ...listBelow(source)]),
  ];
  if (files.every((path) => statSync(path).mtimeMs < builtMs)) return;
  // In a process of its own, because the environment of the tests would make Vite build for development.
  execFileSync('npm', ['run', '-s', 'build'], {
    cwd: join(folder, '../..'),
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'inherit',
  });
}

/** Lists files and folders. The time of a folder is that of the last name added or removed. */
function listBelow(source: string): string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' }).map((path) => join(source, path));
}
