/** The files of the repository as text, without files that are installed, built, ignored by git, or recorded. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

const EXCLUDED = [
  '**/node_modules/**',
  '.git',
  '.git/**',
  'data/**',
  'coverage/**',
  'out/**',
  '**/recordings/**',
  '**/*.db*',
];

/** Paths from the root, sorted. The pattern of all files also matches those whose names begin with a dot. */
export function findFiles(pattern: string): string[] {
  return globSync([pattern, ...(pattern === '**/*' ? ['.ci/*', '.*'] : [])], { cwd: root, exclude: EXCLUDED })
    .filter((file) => statSync(join(root, file)).isFile())
    .sort();
}

export function readText(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
