/** Makes the package.json of a tarball from the one in the repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from './repository.ts';
import { root } from './root.ts';

export interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  engines?: Record<string, string>;
  bin?: Record<string, string>;
  exports?: unknown;
  types?: string;
  files?: readonly string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  repository?: Repository;
  mcpName?: string;
}

const OWN = '@erp-proxy/';

export function readManifest(source: string): Manifest {
  return JSON.parse(readFileSync(join(root, source, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Packages of this repository and bundled packages are part of the tarball, so the manifest does not list them as
 * dependencies, but it lists what the packages of this repository depend on.
 */
export function makeManifest(
  { private: _private, devDependencies: _tests, dependencies = {}, ...own }: Manifest,
  {
    built,
    bundled,
    extra,
    repository,
  }: {
    built: Partial<Manifest>;
    bundled: readonly string[];
    extra: readonly string[];
    repository: Repository | null;
  },
): Manifest {
  const foreign = Object.entries(collectDependencies(dependencies)).filter(
    ([name]) => !name.startsWith(OWN) && !bundled.includes(name),
  );
  return {
    ...own,
    ...built,
    files: [...(own.bin === undefined ? [] : ['bin']), 'dist', ...extra],
    ...(foreign.length > 0 ? { dependencies: Object.fromEntries(foreign) } : {}),
    ...(repository === null ? {} : { repository }),
    publishConfig: { access: 'public' },
  } as Manifest;
}

/** The dependencies with those of the packages of this repository among them, sorted by name. */
function collectDependencies(dependencies: Readonly<Record<string, string>>): Record<string, string> {
  const collected = new Map<string, string>();
  const add = ([name, version]: [string, string]) => {
    if (collected.has(name)) return;
    collected.set(name, version);
    if (!name.startsWith(OWN)) return;
    const own = readManifest(`packages/${name.slice(OWN.length)}`);
    Object.entries(own.dependencies ?? {}).forEach(add);
  };
  Object.entries(dependencies).forEach(add);
  return Object.fromEntries([...collected].sort(([left], [right]) => (left < right ? -1 : 1)));
}
