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
  repository?: Repository;
}

export function readManifest(source: string): Manifest {
  return JSON.parse(readFileSync(join(root, source, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Packages of this repository and bundled packages are part of the tarball, so the manifest does not list them as
 * dependencies.
 */
export function makeManifest(
  { private: _private, dependencies = {}, ...own }: Manifest,
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
  const foreign = Object.entries(dependencies).filter(
    ([name]) => !name.startsWith('@erp-proxy/') && !bundled.includes(name),
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
