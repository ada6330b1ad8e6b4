/**
 * `npm run pack [-- <folder>]`: writes the tarballs that npm publishes into a folder, by default out/, the OpenAPI
 * document of the server, its entry for the registry of MCP, and the wheel of the client for Python. A tarball has
 * JavaScript and needs neither this checkout nor a private package.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { renderOpenapi } from '@erp-proxy/http/openapi';
import { bundleProgram } from './pack/bundle-program.ts';
import { copyConsole } from './pack/copy-console.ts';
import { emitLibrary } from './pack/emit-library.ts';
import { type Manifest, makeManifest, readManifest } from './pack/manifest.ts';
import { findRepository } from './pack/repository.ts';
import { root } from './pack/root.ts';
import { makeSbom } from './pack/sbom.ts';
import { makeServerJson, nameForRegistry } from './pack/server-json.ts';

interface Pack {
  /** The folder of the package, relative to the root. */
  source: string;
  /** Files of the repository that are also part of the tarball, relative to the root. */
  extra: readonly string[];
  /** Writes the files of the package into a folder. */
  build(folder: string): Promise<Built>;
}

interface Built {
  /** Further members for its package.json. */
  manifest: Partial<Manifest>;
  /** The dependencies that the package contains. */
  bundled: readonly string[];
  /** Files and folders of the package in addition to `dist`. */
  files: readonly string[];
}

const PACKS: readonly Pack[] = [
  {
    source: 'packages/server',
    // Messages of the program name these pages.
    extra: ['SECURITY.md', 'erp-proxy.example.yaml', 'docs/*.md'],
    async build(folder) {
      const bundled = await bundleProgram(folder);
      const folders = copyConsole(join(root, 'packages/console'), folder);
      await writeOpenapi(join(folder, 'docs/openapi.json'));
      const mcpName = nameForRegistry(findRepository('packages/server'), readManifest('packages/server'));
      const manifest = {
        ...emitLibrary('packages/contract', folder),
        engines: { node: '>=24' },
        // The registry of MCP compares the name with the one in server.json.
        ...(mcpName === null ? {} : { mcpName }),
      };
      return { manifest, bundled, files: [...folders, 'docs/openapi.json'] };
    },
  },
  {
    source: 'packages/client',
    // The README of the client links to these pages.
    extra: [
      'approvals',
      'changes',
      'documents',
      'errors',
      'fleet',
      'idempotency',
      'jobs',
      'persons',
      'values',
      'webhooks',
    ].map((name) => `docs/${name}.md`),
    build: async (folder) => ({ manifest: emitLibrary('packages/client', folder), bundled: [], files: [] }),
  },
];

const out = resolve(process.argv[2] ?? join(root, 'out'));
mkdirSync(out, { recursive: true });
for (const old of globSync('{*.tgz,*.whl,*.cdx.json,server.json}', { cwd: out })) rmSync(join(out, old));
await writeOpenapi(join(out, 'openapi.json'));
for (const pack of PACKS) {
  process.stdout.write(`${join(out, await writeTarball(pack))}\n`);
}
writeWheel();
writeServerJson();

/** Writes a list of what the tarball ships beside it. Returns the name of the tarball. */
async function writeTarball({ source, extra, build }: Pack): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-pack-'));
  try {
    const { manifest: built, bundled, files } = await build(folder);
    copy('LICENSE', join(folder, 'LICENSE'));
    writeReadme(source, folder);
    for (const path of globSync([...extra], { cwd: root })) copy(path, join(folder, path));
    const manifest = makeManifest(readManifest(source), {
      built,
      bundled,
      extra: [...files, ...extra],
      repository: findRepository(source),
    });
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    const tarball = packFolder(folder);
    const consoleFolder = files.includes('console') ? join(folder, 'console') : null;
    const sbom = makeSbom(manifest, { bundled, consoleFolder });
    writeFileSync(join(out, tarball.replace('.tgz', '.cdx.json')), `${JSON.stringify(sbom, null, 2)}\n`);
    return tarball;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Python builds the wheel. Without Python, the tarballs are still of use. */
function writeWheel(): void {
  const args = ['-B', join(root, 'packages/python/build_backend.py'), out];
  const { status, stdout, stderr, error } = spawnSync('python3', args, { encoding: 'utf8' });
  if (error !== undefined)
    process.stderr.write('There is no python3: the wheel of the client is not written.\n');
  else if (status !== 0) throw new Error(`build_backend.py failed: ${stderr}`);
  else process.stdout.write(stdout);
}

/** Without a repository that the registry of MCP knows, there is no file. */
function writeServerJson(): void {
  const source = 'packages/server';
  const entry = makeServerJson(findRepository(source), readManifest(source));
  if (entry !== null) writeFileSync(join(out, 'server.json'), `${JSON.stringify(entry, null, 2)}\n`);
}

/** Links to files of the repository become links to the same files of the tarball. */
function writeReadme(source: string, folder: string): void {
  const text = readFileSync(join(root, source, 'README.md'), 'utf8');
  writeFileSync(join(folder, 'README.md'), text.replaceAll('](../../', ']('));
}

async function writeOpenapi(target: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const document = await renderOpenapi(readManifest('packages/server').version);
  // For programs: without indentation, the document is half as large.
  writeFileSync(target, `${JSON.stringify(document)}\n`);
}

function copy(path: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, path), target);
}

function packFolder(folder: string): string {
  const args = ['pack', folder, '--json', '--pack-destination', out, '--loglevel=error'];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  return packed.filename;
}
