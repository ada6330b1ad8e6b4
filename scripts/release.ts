/**
 * `npm run release -- --image <name> --charts <registry>`: publishes the version of the checkout to npm, as an image
 * and as a chart, and lists it in the registry of MCP. With `--dry-run` it makes the same checks, and prints the
 * commands that it would run. The page docs/releasing.md describes what it needs.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findRepository } from './pack/repository.ts';
import { nameForRegistry } from './pack/server-json.ts';

type Command = readonly [program: string, ...args: string[]];

const root = fileURLToPath(new URL('..', import.meta.url));
const PLATFORMS = 'linux/amd64,linux/arm64';
const PUBLISHED = 'packages/{server,client}/package.json';
const CHART = 'deploy/helm/erp-proxy';
/** docker buildx writes here which digest the image has. */
const IMAGE_FILE = 'out/image.json';
/** Stands in a command for this digest, which is known once the image is built. */
const DIGEST = '<digest>';

const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, image: { type: 'string' }, charts: { type: 'string' } },
});
const isDryRun = values['dry-run'] === true;
const { image, charts } = values;
if (!isDryRun && (image === undefined || charts === undefined)) {
  process.stderr.write('Name the image and the registry of charts: see docs/releasing.md.\n');
  process.exit(2);
}

const version = readVersion('packages/server/package.json');
const problems = findProblems();
for (const problem of problems) process.stderr.write(`problem: ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
if (isDryRun || problems.length === 0) {
  for (const command of listCommands()) runCommand(command);
}

/** The steps in their order. Steps that cannot be undone come last. */
function listCommands(): Command[] {
  const name = image ?? '<image>';
  const chartVersion = readMember(`${CHART}/Chart.yaml`, 'version');
  const isInRegistry = nameForRegistry(findRepository(''), readJson('packages/server/package.json')) !== null;
  const entry = './out/server.json';
  return [
    ['npm', 'run', 'check', '--', '--all'],
    ['npm', 'run', 'pack'],
    ...(isInRegistry ? [['mcp-publisher', 'validate', entry] as const] : []),
    ['helm', 'package', CHART, '--destination', 'out/chart'],
    ['git', 'tag', `v${version}`],
    [
      ...(['docker', 'buildx', 'build', '--platform', PLATFORMS, '--file', 'deploy/Dockerfile'] as const),
      ...(['--tag', `${name}:${version}`, '--provenance=true', '--sbom=true'] as const),
      ...(['--metadata-file', IMAGE_FILE, '--push', '.'] as const),
    ],
    ['cosign', 'sign', '--yes', '--recursive', `${name}@${DIGEST}`],
    [
      ...(['cosign', 'attest', '--yes', '--type', 'cyclonedx'] as const),
      ...(['--predicate', `out/erp-proxy-${version}.cdx.json`, `${name}@${DIGEST}`] as const),
    ],
    ['helm', 'push', `out/chart/erp-proxy-${chartVersion}.tgz`, charts ?? '<charts>'],
    ['cosign', 'sign', '--yes', `${(charts ?? '<charts>').replace('oci://', '')}/erp-proxy:${chartVersion}`],
    ...listTarballs().map((file): Command => ['npm', 'publish', file, '--provenance', '--access', 'public']),
    ...(isInRegistry ? [['mcp-publisher', 'publish', entry] as const] : []),
    ['git', 'push', 'origin', `v${version}`],
  ];
}

/** The tarballs that `npm run pack` writes. */
function listTarballs(): string[] {
  return globSync(PUBLISHED, { cwd: root })
    .sort()
    .map((path) => `./out/${readJson(path).name.replace('@', '').replace('/', '-')}-${version}.tgz`);
}

/** Problems that would make the release wrong or fail, as sentences. */
function findProblems(): string[] {
  const found: string[] = [];
  if (run('git', 'status', '--porcelain') !== '')
    found.push('the checkout has changes that are not committed');
  if (run('git', 'tag', '--list', `v${version}`) !== '') found.push(`the tag v${version} exists`);
  for (const [place, other] of listVersions()) {
    if (other !== version) found.push(`${place} has the version ${other}, the server ${version}`);
  }
  const changelog = readText('CHANGELOG.md');
  if (!changelog.includes(`\n## ${version} `) && !changelog.includes(`\n## ${version}\n`)) {
    found.push(`CHANGELOG.md has no heading for ${version}`);
  }
  if (findRepository('') === null) {
    found.push('the remote "origin" is no public address, which npm compares with the provenance');
  }
  return found;
}

/** Every other place that has the version of the program. */
function listVersions(): [place: string, version: string | undefined][] {
  const manifests = globSync('packages/*/package.json', { cwd: root }).sort();
  return [
    ...manifests.map((path): [string, string] => [path, readVersion(path)]),
    ['packages/python/build_backend.py', readPythonVersion()],
    ['package-lock.json', readJson('package-lock.json').packages?.['packages/server']?.version],
    [`${CHART}/Chart.yaml (appVersion)`, readMember(`${CHART}/Chart.yaml`, 'appVersion')],
    ['deploy/compose.yaml', /image: erp-proxy:(\S+)/.exec(readText('deploy/compose.yaml'))?.[1]],
  ];
}

/** Prints a command and runs it, except in a dry run. A failure ends the release. */
function runCommand([program, ...args]: Command): void {
  process.stdout.write(`${[program, ...args].join(' ')}\n`);
  if (isDryRun) return;
  const known = args.map((arg) => (arg.endsWith(`@${DIGEST}`) ? arg.replace(DIGEST, readDigest()) : arg));
  const { status } = spawnSync(program, known, { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  process.stderr.write(`${program} failed; docs/releasing.md says how to continue.\n`);
  process.exit(1);
}

/** Throws if the builder reports none: without it, another image could be signed. */
function readDigest(): string {
  const digest = (JSON.parse(readText(IMAGE_FILE)) as Record<string, unknown>)['containerimage.digest'];
  if (typeof digest !== 'string') throw new Error(`${IMAGE_FILE} has no digest of the image.`);
  return digest;
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function readText(path: string): string {
  return readFileSync(`${root}${path}`, 'utf8');
}

interface Json {
  name: string;
  version: string;
  packages?: Record<string, { version?: string }>;
}

function readJson(path: string): Json {
  return JSON.parse(readText(path)) as Json;
}

function readVersion(path: string): string {
  return readJson(path).version;
}

function readPythonVersion(): string | undefined {
  return /^VERSION = "(.+)"$/m.exec(readText('packages/python/build_backend.py'))?.[1];
}

/** A member of the top level of a YAML file. */
function readMember(path: string, name: string): string | undefined {
  return new RegExp(`^${name}: (\\S+)$`, 'm').exec(readText(path))?.[1];
}
