/**
 * Bundles the program: its sources and the packages of the repository become few files of JavaScript, which load faster
 * than several hundred. Dependencies from npm stay outside, except those that every command loads.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './root.ts';

const SOURCE = join(root, 'packages/server');
const BIN = 'bin/erp-proxy.mjs';
const ENTRIES = {
  main: 'packages/server/src/main.ts',
  // A thread starts from a file of its own. packages/stores/src/sqlite/thread.ts has its name.
  worker: 'packages/stores/src/sqlite/worker.mjs',
  // packages/gateway/src/thread/run-in-thread.ts has the name of this file.
  'calls-worker': 'packages/gateway/src/thread/calls-worker.mjs',
  // packages/agents/src/documents/read-document.ts has the name of this file.
  'extract-worker': 'packages/agents/src/documents/extract-worker.mjs',
};
/** oidc-provider, and what it depends on: outside the bundle, it would be 35 packages. */
const AUTHORIZATION: readonly string[] = [
  ...['oidc-provider', 'debug', 'ms', 'koa', 'accepts', 'mime-types', 'mime-db', 'negotiator'],
  ...['content-disposition', 'content-type', 'cookies', 'depd', 'keygrip', 'tsscmp', 'delegates', 'destroy'],
  ...['encodeurl', 'escape-html', 'fresh', 'http-assert', 'deep-equal', 'http-errors', 'inherits'],
  ...['setprototypeof', 'statuses', 'toidentifier', 'koa-compose', 'on-finished', 'ee-first', 'parseurl'],
  ...['type-is', 'media-typer', 'vary'],
];
/** Files that the program reads at run time. The source that names a file is in the same folder. */
const ASSETS = ['html', 'css', 'js'].map((type) => `packages/http/src/reference/reference.${type}`);
/**
 * Dependencies in the bundle. Every command loads yaml and zod: as a hundred separate files, they take half of a
 * command's time. The server loads the SDK of MCP, which would bring 16 MB outside the bundle, with another zod. The
 * SDK of OpenTelemetry is loaded if traces are on; outside the bundle it would bring 16 MB. Its API stays outside,
 * because prom-client has it too. The authorization server, with what it depends on, is loaded if `signIn` is set. Of
 * lru-cache, which has 3.5 MB, one file of 50 KB is used.
 */
const BUNDLED: readonly string[] = [
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  '@opentelemetry/core',
  '@opentelemetry/otlp-transformer',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-logs',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/semantic-conventions',
  ...AUTHORIZATION,
  'lru-cache',
  'yaml',
  'zod',
];
const PACKAGE = /^(?:@[\w-]+\/)?\w[\w.-]*/;

/** Whether an import stays in the bundle: an import of Node, or of a package that is installed beside the bundle. */
const isForeign = (id: string) => {
  const [name] = PACKAGE.exec(id) ?? [];
  return name !== undefined && !name.startsWith('@erp-proxy/') && !BUNDLED.includes(name);
};

/** Returns the names of the dependencies that became part of the bundle. */
export async function bundleProgram(folder: string): Promise<readonly string[]> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(root, path)])),
    platform: 'node',
    external: isForeign,
    // A dependency of oidc-provider makes functions with a given number of parameters.
    checks: { eval: false },
  });
  await bundle.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    // All files are in one folder, because the thread and the package.json are found relative to the file that names
    // them.
    entryFileNames: ({ name }) => (name.endsWith('worker') ? '[name].mjs' : '[name].js'),
    chunkFileNames: '[name]-[hash].js',
    sourcemap: false,
    // V8 keeps the text of every file that it has loaded. Without comments, it is shorter, and in ASCII, a character
    // takes one byte instead of two. Lines and names stay readable, for stack traces.
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    minifyInternalExports: false,
  });
  await bundle.close();
  for (const path of ASSETS) cpSync(join(root, path), join(folder, 'dist', basename(path)));
  writeBin(folder);
  writeLicenses(folder);
  return BUNDLED;
}

/** Writes the licenses of the bundled dependencies. The licenses require a copy in the bundle. */
function writeLicenses(folder: string): void {
  const texts = BUNDLED.map((name) => {
    const source = join(root, 'node_modules', name);
    const file = readdirSync(source).find((entry) => /^licen[cs]e/i.test(entry));
    const read = (entry: string) => readFileSync(join(source, entry), 'utf8');
    // Without such a file, the manifest names the license.
    const text = file === undefined ? `License: ${JSON.parse(read('package.json')).license}` : read(file);
    return `${name}\n\n${text.trim()}\n`;
  });
  writeFileSync(join(folder, 'dist/THIRD-PARTY-LICENSES.txt'), texts.join('\n---\n\n'));
}

/** Writes the same entry as in the repository, which starts the bundle in place of the sources. */
function writeBin(folder: string): void {
  const text = readFileSync(join(SOURCE, BIN), 'utf8');
  const adapted = text.replace("'../src/main.ts'", "'../dist/main.js'");
  if (adapted === text) throw new Error(`${BIN} does not import src/main.ts`);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, BIN), adapted, { mode: 0o755 });
}
