/** Helpers of the tests of deploy/: its files, and the settings that the program reads from them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/schema.ts';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A parsed file, or a part of one. The tests check its shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
export type Parsed = any;

/** The text of a file, by its path from the root. */
export function readText(path: string): string {
  return readFileSync(`${root}${path}`, 'utf8');
}

export function readYaml(path: string): Parsed {
  return parse(readText(path));
}

/** The settings that the program reads from a container's variables and files. Throws if it would not start. */
export function takeSettings(env: Record<string, string>, files: Record<string, string> = {}): Settings {
  const readFile = (path: string) => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
    return text;
  };
  const loaded = loadSettings({ argv: [], env, cwd: '/etc/erp-proxy', readFile });
  if (!loaded.ok)
    throw new Error(loaded.errors.map(({ source, message }) => `${source}: ${message}`).join('\n'));
  return loaded.settings;
}

/** The variables that the image sets. */
export function readImageVariables(): Record<string, string> {
  const text = readText('deploy/Dockerfile');
  const image = text.slice(text.lastIndexOf('\nFROM ')).replaceAll(/ *\\\n */g, ' ');
  const pairs = [...image.matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) => line.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.split('=')));
}
