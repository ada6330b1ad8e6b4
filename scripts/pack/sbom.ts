/**
 * Writes what a tarball ships as a CycloneDX document: the packages in its bundle, those in the console, and those that
 * npm installs beside it, in the versions of package-lock.json. `npm sbom` leaves out packages that tests need too. The
 * document has neither a time nor a random number, so that two builds give the same bytes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './manifest.ts';
import { root } from './root.ts';

interface Locked {
  version?: string;
  integrity?: string;
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

const NODE_MODULES = 'node_modules/';

/** `consoleFolder` is the built console in the tarball; null if the tarball has none. */
export function makeSbom(
  { name, version, dependencies = {} }: Manifest,
  { bundled, consoleFolder }: { bundled: readonly string[]; consoleFolder: string | null },
): object {
  const lock = readJson<{ packages: Record<string, Locked> }>(join(root, 'package-lock.json')).packages;
  const paths = new Set(bundled.map((dependency) => findPath(lock, dependency, '')));
  const add = (path: string) => {
    paths.add(path);
    for (const next of listNeeded(lock, path)) if (!paths.has(next)) add(next);
  };
  for (const dependency of Object.keys(dependencies)) add(findPath(lock, dependency, ''));
  for (const part of consoleFolder === null ? [] : readConsole(consoleFolder)) {
    paths.add(findVersion(lock, part));
  }
  const own = describe(name, { version, license: 'MIT' });
  // Two paths may have the same package in the same version.
  const components = new Map(
    [...paths].sort().map((path) => [path, describe(nameOf(path), lock[path] ?? {})]),
  );
  const byPurl = new Map([...components.values()].map((component) => [component.purl, component]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...own, type: 'application' } },
    components: [...byPurl.values()],
    dependencies: [{ ref: own.purl, dependsOn: [...byPurl.keys()] }],
  };
}

/** What npm installs for a package. An optional dependency is in the lock or not. */
function listNeeded(lock: Record<string, Locked>, path: string): string[] {
  const {
    dependencies,
    optionalDependencies = {},
    peerDependencies,
    peerDependenciesMeta,
  } = lock[path] ?? {};
  const names = Object.keys({ ...dependencies, ...peerDependencies }).filter(
    (name) => optionalDependencies[name] === undefined && peerDependenciesMeta?.[name]?.optional !== true,
  );
  const optional = Object.keys(optionalDependencies).map((name) => searchPath(lock, name, path));
  return [
    ...names.map((name) => findPath(lock, name, path)),
    ...optional.filter((found) => found !== undefined),
  ];
}

function findPath(lock: Record<string, Locked>, name: string, from: string): string {
  const path = searchPath(lock, name, from);
  if (path === undefined)
    throw new Error(`package-lock.json has no ${name}, which ${from || 'the root'} needs`);
  return path;
}

/** As Node does, from the package itself up to the root. */
function searchPath(lock: Record<string, Locked>, name: string, from: string): string | undefined {
  const path = `${from === '' ? '' : `${from}/`}${NODE_MODULES}${name}`;
  if (lock[path] !== undefined) return path;
  if (from === '') return undefined;
  return searchPath(lock, name, from.slice(0, Math.max(0, from.lastIndexOf(`/${NODE_MODULES}`))));
}

function findVersion(
  lock: Record<string, Locked>,
  { name, version }: { name: string; version: string },
): string {
  const path = Object.keys(lock).find((key) => nameOf(key) === name && lock[key]?.version === version);
  if (path === undefined)
    throw new Error(`The console has ${name} ${version}: run "npm ci", then pack again.`);
  return path;
}

function readConsole(folder: string): { name: string; version: string }[] {
  return readJson(join(folder, 'licenses.json'));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length);
}

function describe(name: string, { version = '', license, integrity }: Locked) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const hash = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    ...(hash === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] }),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    purl,
  };
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
