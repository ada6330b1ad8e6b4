/**
 * Bundles the program: its sources and the packages of the repository become few files of JavaScript, which load faster
 * than several hundred. Dependencies from npm stay outside, except those that every command loads.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './root.ts';

const SOURCE = join(root, 'packages/server');
const BIN = 'bin/erp-proxy.mjs';
const ENTRIES = {
  main: 'src/main.ts',
  // A thread starts from a file of its own, whose name is in src/stores/sqlite/thread.ts.
  worker: 'src/stores/sqlite/worker.mjs',
  // The same in src/execute/thread/run-in-thread.ts.
  'calls-worker': 'src/execute/thread/calls-worker.mjs',
  // The same in src/mcp/documents/read-document.ts.
  'extract-worker': 'src/mcp/documents/extract-worker.mjs',
};
/** Files that the program reads, from the folder of the file that names them. */
const ASSETS = ['html', 'css', 'js'].map((type) => `src/http/reference/reference.${type}`);
/**
 * Dependencies that every command loads: as a hundred files of their own, they take half of its time. The SDK of MCP is
 * loaded by the server; outside of the bundle it would bring 16 MB, with another zod. That of OpenTelemetry is loaded
 * if traces are on; outside it would bring 16 MB. Its API stays outside, because prom-client has it too.
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
  'yaml',
  'zod',
];
const PACKAGE = /^(?:@[\w-]+\/)?\w[\w.-]*/;

/** Whether an import stays one in the bundle: of Node, or of a package that is installed beside it. */
const isForeign = (id: string) => {
  const [name] = PACKAGE.exec(id) ?? [];
  return name !== undefined && !name.startsWith('@erp-proxy/') && !BUNDLED.includes(name);
};

/** Returns the names of the dependencies that became part of the bundle. */
export async function bundleProgram(folder: string): Promise<readonly string[]> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(SOURCE, path)])),
    platform: 'node',
    external: isForeign,
  });
  await bundle.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    // All in one folder: the thread and the package.json are found relative to the file that names them.
    entryFileNames: ({ name }) => (name.endsWith('worker') ? '[name].mjs' : '[name].js'),
    chunkFileNames: '[name]-[hash].js',
    sourcemap: false,
  });
  await bundle.close();
  for (const path of ASSETS) cpSync(join(SOURCE, path), join(folder, 'dist', basename(path)));
  writeBin(folder);
  writeLicenses(folder);
  return BUNDLED;
}

/** Their licenses ask for this. */
function writeLicenses(folder: string): void {
  const texts = BUNDLED.map((name) => {
    const text = readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8');
    return `${name}\n\n${text.trim()}\n`;
  });
  writeFileSync(join(folder, 'dist/THIRD-PARTY-LICENSES.txt'), texts.join('\n---\n\n'));
}

/** The same entry as in the repository, which starts the bundle in place of the sources. */
function writeBin(folder: string): void {
  const text = readFileSync(join(SOURCE, BIN), 'utf8');
  const adapted = text.replace("'../src/main.ts'", "'../dist/main.js'");
  if (adapted === text) throw new Error(`${BIN} does not import src/main.ts`);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, BIN), adapted, { mode: 0o755 });
}
