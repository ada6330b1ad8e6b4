/**
 * Tests the tarballs of `npm run pack`, as npm publishes them: installed into an empty folder, and checked by the
 * linters of packages. Needs the npm registry, or a cache that has the packages that `npm ci` installs.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasCommand } from '../examples/shop.ts';
import { send } from '../harness.ts';
import { KEY, makeFolder, startShell } from './program.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const INSTALLED_MB_MAX = 40;
const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
/** Variables that npm needs: they may configure its cache and its registry. */
const NPM_ENV = Object.fromEntries(
  ['HOME', 'npm_config_cache', 'npm_config_registry', 'npm_config_userconfig', 'NODE_EXTRA_CA_CERTS'].flatMap(
    (name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]),
  ),
);
const ENV = { ...NPM_ENV, PATH };
/** Installing takes long on a busy machine. */
const TIMEOUT_MS = 180_000;

const work = mkdtempSync(join(tmpdir(), 'erp-proxy-package-'));
const packed = join(work, 'packed');
const installed = join(work, 'installed');
/** A folder of its own: programs find their packages below their own folder. */
const attw = join(work, 'attw');
afterAll(() => rmSync(work, { recursive: true, force: true }));

beforeAll(async () => {
  await run(process.execPath, [join(root, 'scripts/pack.ts'), packed]);
  await Promise.all([installTarballs(), installAttw()]);
});

/** Paths of the tarballs. */
const listTarballs = () => globSync('*.tgz', { cwd: packed }).map((name) => join(packed, name));
const findProgramFiles = () =>
  globSync('node_modules/{erp-proxy,@erp-proxy/*}/**/*', { cwd: installed }).filter((path) =>
    statSync(join(installed, path)).isFile(),
  );

async function installTarballs(): Promise<void> {
  mkdirSync(installed);
  await install(['install', ...listTarballs()], installed);
}

async function installAttw(): Promise<void> {
  cpSync(join(root, 'scripts/pack/attw'), attw, { recursive: true });
  await install(['ci'], attw);
}

async function install(args: readonly string[], folder: string): Promise<void> {
  await run('npm', [...args, '--prefer-offline', '--ignore-scripts', '--no-audit'], folder).catch((error) => {
    throw new Error(`npm could not install; is the registry reachable? ${error}`);
  });
}

/** Runs a program to its end. Resolves to its output. Rejects if its status is not 0. */
function run(command: string, args: readonly string[], cwd = root): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (status) => (status === 0 ? resolve(output) : reject(new Error(output))));
  });
}

describe('the tarballs', () => {
  test.skipIf(!hasCommand('python3'))(
    'are beside the wheel of the client for Python (skipped where python3 is not installed)',
    () => {
      expect(globSync('*.whl', { cwd: packed })).toHaveLength(1);
    },
  );

  test('are complete for npm: license, readme, types, keywords, engines, and no private package', () => {
    for (const file of findProgramFiles().filter((path) =>
      /^node_modules\/(@erp-proxy\/)?[\w-]+\/package.json$/.test(path),
    )) {
      const manifest = JSON.parse(readFileSync(join(installed, file), 'utf8'));
      expect(manifest).toMatchObject({
        license: 'MIT',
        types: expect.any(String),
        engines: expect.any(Object),
      });
      expect(manifest).toMatchObject({ files: expect.any(Array), keywords: expect.any(Array) });
      expect(manifest).not.toHaveProperty('private');
      expect(manifest).not.toHaveProperty('devDependencies');
      const own = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('@erp-proxy/'));
      expect(own).toEqual([]);
      for (const name of ['LICENSE', 'README.md']) statSync(join(installed, dirname(file), name));
    }
  });

  test('have no tests, no sources, no source maps, and no path of this machine', () => {
    const files = findProgramFiles();
    expect(files.length).toBeGreaterThan(10);
    expect(
      files.filter((path) => /\.(test|fixture)\.|\/test\/|recordings|\.map$|(?<!\.d)\.ts$/.test(path)),
    ).toEqual([]);
    const revealing = files.filter((path) => {
      const text = readFileSync(join(installed, path), 'utf8');
      return (
        text.includes(root) || text.includes(`${tmpdir()}/erp-proxy`) || text.includes('sourceMappingURL')
      );
    });
    expect(revealing).toEqual([]);
  });

  test('have the files that their pages link to', () => {
    const pages = findProgramFiles().filter((path) => path.endsWith('/README.md'));
    const missing = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\(([\w./-]+)\)/g)]
        .map(([, link]) => join(dirname(page), link as string))
        .filter((link) => statSync(join(installed, link), { throwIfNoEntry: false }) === undefined),
    );
    expect(missing).toEqual([]);
  });

  test('have the OpenAPI document, which is beside them, too', () => {
    const document = JSON.parse(readFileSync(join(packed, 'openapi.json'), 'utf8'));
    expect(document).toMatchObject({ openapi: expect.any(String), paths: expect.any(Object) });
    const installedPath = join(installed, 'node_modules/erp-proxy/docs/openapi.json');
    expect(JSON.parse(readFileSync(installedPath, 'utf8'))).toEqual(document);
  });

  test('have a list of exactly what they ship beside them, with hashes of the lock', () => {
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    const lists = globSync('*.cdx.json', { cwd: packed }).map((name) => read(join(packed, name)));
    expect(lists).toHaveLength(listTarballs().length);
    for (const list of lists) {
      expect(list).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
      expect(Object.keys(list)).not.toContain('serialNumber');
    }
    const program = join(installed, 'node_modules/erp-proxy');
    const beside = globSync('node_modules/{*,@*/*}/package.json', { cwd: installed })
      .map((path) => read(join(installed, path)).name)
      .filter((name) => !/^@?erp-proxy/.test(name));
    const licenses = readFileSync(join(program, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const inBundle = [...licenses.matchAll(/(?:^|\n---\n\n)((?:@[\w-]+\/)?[\w.-]+)\n\n/g)].map(
      ([, name]) => name as string,
    );
    const inConsole = read(join(program, 'console/licenses.json')).map(({ name }: { name: string }) => name);
    const components: { name: string; version: string; hashes?: { content: string }[] }[] = lists.flatMap(
      (list) => list.components,
    );
    const names = (list: readonly string[]) => [...new Set(list)].sort();
    expect(names(components.map(({ name }) => name))).toEqual(names([...beside, ...inBundle, ...inConsole]));
    const locked = Object.values<{ version?: string; integrity?: string }>(
      read(join(root, 'package-lock.json')).packages,
    );
    for (const { name, version, hashes: [hash] = [] } of components) {
      const integrity = `sha512-${Buffer.from(hash?.content ?? '', 'hex').toString('base64')}`;
      expect(
        locked.filter((entry) => entry.integrity === integrity).map((entry) => entry.version),
        name,
      ).toContain(version);
    }
  });

  test(`weigh less than ${INSTALLED_MB_MAX} MB with their dependencies`, () => {
    const paths = globSync('node_modules/**/*', { cwd: installed });
    const blocks = paths.map((path) => statSync(join(installed, path)).blocks);
    const bytes = 512 * blocks.reduce((sum, count) => sum + count, 0);
    expect(bytes / 2 ** 20).toBeLessThan(INSTALLED_MB_MAX);
  });

  test(
    'have no findings of publint and attw',
    async () => {
      writeFileSync(join(attw, '.attw.json'), readFileSync(join(root, '.attw.json')));
      for (const tarball of listTarballs()) {
        const bytes = readFileSync(tarball);
        const { messages } = await publint({
          pack: {
            tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
          },
          strict: true,
        });
        expect(messages, basename(tarball)).toEqual([]);
        const cli = join(attw, 'node_modules/@arethetypeswrong/cli/dist/index.js');
        await run(process.execPath, [cli, tarball], attw);
      }
    },
    TIMEOUT_MS,
  );
});

describe('the installed program', () => {
  const type = (line: string, env: Record<string, string> = {}) =>
    startShell(line, { folder: installed, env: { ...ENV, ...env } });

  test('shows one real call', async () => {
    const { status, stdout, stderr } = await type('npx erp-proxy demo --once').ended;
    expect(stdout, stderr).toContain('"result":[{');
    expect(status).toBe(0);
  });

  test('serves with workers on a SQLite file, and its commands use the same file', async () => {
    const env = { ERP_PROXY_STORE_URL: `sqlite:${join(makeFolder(), 'keys.db')}`, ERP_PROXY_HTTP_PORT: '0' };
    const server = type('exec npx erp-proxy serve --workers 2', env);
    const [, url] = await server.waitFor(/"url":"(http:[^"]+)"/);
    expect((await send(`${url}/readyz`)).status).toBe(200);
    const { stdout } = await type('npx erp-proxy keys create --name shop', env).ended;
    expect(stdout).toMatch(KEY);
    expect((await type('npx erp-proxy keys list', env).ended).stdout).toContain('shop');
    server.kill('SIGTERM');
    expect((await server.ended).stdout).toContain('"msg":"stopped"');
  });

  test('serves the pages of the tarball as Markdown, and lists them', async () => {
    const server = type('exec npx erp-proxy serve', {
      ERP_PROXY_STORE_URL: 'memory:',
      ERP_PROXY_HTTP_PORT: '0',
    });
    const [, url = ''] = await server.waitFor(/"url":"(http:[^"]+)"/);
    const list = (await send(`${url}/llms.txt`)).body.toString();
    const pages = [...list.matchAll(/\]\((docs\/[\w-]+\.md)\)/g)].map(([, path]) => path as string);
    expect(pages.sort()).toEqual(globSync('docs/*.md', { cwd: root }).sort());
    for (const path of pages) expect([path, (await send(`${url}/${path}`)).status]).toEqual([path, 200]);
    server.kill('SIGTERM');
    await server.ended;
  });

  test('serves MCP, whose SDK is part of the tarball', async () => {
    const demo = type('exec npx erp-proxy demo', { ERP_PROXY_HTTP_PORT: '0' });
    const [, url, key = ''] = await demo.waitFor(/erp-proxy on (\S+)\. [\s\S]*?(ep_\w+)[\s\S]*Ctrl-C/);
    const accept = 'application/json, text/event-stream';
    const { body } = await send(`${url}/mcp`, {
      method: 'POST',
      headers: { 'x-proxy-api': key, 'content-type': 'application/json', accept },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect(body.toString()).toContain('"search_records"');
    demo.kill('SIGTERM');
    await demo.ended;
  });

  test('is an authorization server, whose library is part of the tarball', async () => {
    const policy = { instances: ['prod'], models: { '*': ['read'] } };
    const server = type('exec npx erp-proxy serve', {
      ERP_PROXY_STORE_URL: 'memory:',
      ERP_PROXY_VAULT_MASTER_KEY: randomBytes(32).toString('base64'),
      ERP_PROXY_HTTP_PORT: '0',
      ERP_PROXY_HTTP_PUBLIC_URL: 'https://erp.example.com',
      ERP_PROXY_AUTH_POLICIES: JSON.stringify({ own: policy }),
      ERP_PROXY_SIGN_IN_ODOO: 'prod',
      ERP_PROXY_SIGN_IN_ODOO_POLICY: 'own',
    });
    const [, url = ''] = await server.waitFor(/"url":"(http:[^"]+)"/);
    const registered = await send(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"redirect_uris":["http://127.0.0.1/callback"],"token_endpoint_auth_method":"none"}',
    });
    const { client_id } = JSON.parse(registered.body.toString());
    const asked = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri: 'http://127.0.0.1/callback',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const { status, headers } = await send(`${url}/oauth/authorize?${asked}`);
    expect({ status, location: headers.location }).toEqual({
      status: 303,
      location: expect.stringContaining('/oauth/sign-in/'),
    });
    server.kill('SIGTERM');
    await server.ended;
  });

  test('has the version of the repository', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8'));
    expect((await type('npx erp-proxy --version').ended).stdout).toBe(`${version}\n`);
  });

  test('says what to do if Node is too old', async () => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.19.0' })`;
    const bin = 'node_modules/erp-proxy/bin/erp-proxy.mjs';
    const { status, stderr } = await type(`node --import "data:text/javascript,${pretend}" ${bin} demo`)
      .ended;
    expect(stderr).toMatch(/needs Node 24 or later.*Install it from/);
    expect(status).toBe(1);
  });
});

/** Starts a demo of the installed program, and returns the options of a client for it. */
async function startDemo() {
  const demo = startShell('exec npx erp-proxy demo', {
    folder: installed,
    env: { ...ENV, ERP_PROXY_HTTP_PORT: '0' },
  });
  const [, proxy = '', key = ''] = await demo.waitFor(/erp-proxy on (\S+)\. [\s\S]*?(ep_\w+)[\s\S]*Ctrl-C/);
  const [, call = ''] = /-d '(.*)'/.exec(demo.stdout) ?? [];
  const { url, db, user_id: userId, api_key: apiKey } = JSON.parse(call).erp_instance;
  return { url: proxy, key, instance: { url, db, userId, apiKey } };
}

/** Compiles a program in the folder of the packages, strictly and without the types of Node. */
function compile(file: string): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
  const libraries = ['--lib', 'es2022,dom,dom.iterable', '--types', '', '--allowImportingTsExtensions'];
  return run(process.execPath, [compiler, ...options, ...libraries, file], installed);
}

describe('programs that import the packages', () => {
  test('call Odoo with the client, and read the table of errors', async () => {
    const options = await startDemo();
    writeFileSync(
      join(installed, 'call.mjs'),
      `import { createClient } from '@erp-proxy/client';
      import { PROXY_ERRORS } from 'erp-proxy';
      const client = createClient(${JSON.stringify(options)});
      const partners = await client.model('res.partner').searchRead([], { fields: ['name'], limit: 2 });
      console.log(partners.length, PROXY_ERRORS.rate_limited.httpStatus);`,
    );
    expect(await run(process.execPath, ['call.mjs'], installed)).toBe('2 429\n');
  });

  test(
    'compile with their types, without skipLibCheck and without the types of Node',
    async () => {
      writeFileSync(
        join(installed, 'types.mts'),
        `import { createClient, type ErpProxyError } from '@erp-proxy/client';
      import { type ProxyErrorType, PROXY_ERRORS } from 'erp-proxy';
      const type: ProxyErrorType = 'rate_limited';
      export const status: number = PROXY_ERRORS[type].httpStatus;
      export const find = () => createClient({ url: 'https://proxy.example.com', key: 'k', instance: 'prod' })
        .model('res.partner').search([]).catch((error: ErpProxyError) => error.type);`,
      );
      await compile('types.mts');
    },
    TIMEOUT_MS,
  );

  test(
    'compile and run with the file that the installed `types` writes',
    async () => {
      const options = await startDemo();
      const { url, key, instance } = options;
      writeFileSync(join(installed, 'key'), instance.apiKey);
      const odoo = `${instance.url} --db ${instance.db} --user-id ${instance.userId} --api-key-file key`;
      const written = startShell(
        `npx erp-proxy types ${odoo} --models res.partner,res.country -o models.mts`,
        { folder: installed, env: { ...ENV, ERP_PROXY_URL: url, ERP_PROXY_KEY: key } },
      );
      expect((await written.ended).stderr).toBe('');
      writeFileSync(
        join(installed, 'typed.mts'),
        `import { createClient } from '@erp-proxy/client';
      import type { Models, ResPartnerRead } from './models.mts';
      const partners = createClient<Models>(${JSON.stringify(options)}).model('res.partner');
      const rows: Pick<ResPartnerRead, 'id' | 'name'>[] = await partners.searchRead([], { fields: ['name'], limit: 2 });
      // @ts-expect-error: a text is no number
      export const id: number | undefined = rows[0]?.name;
      console.log(rows.length);`,
      );
      expect(await compile('typed.mts')).toBe('');
      expect(await run(process.execPath, ['typed.mts'], installed)).toBe('2\n');
    },
    TIMEOUT_MS,
  );

  test.each(['bash', 'fish', 'zsh'])('the installed completion for %s is the tested one', async (shell) => {
    const tested = await run(process.execPath, [
      join(root, 'packages/server/bin/erp-proxy.mjs'),
      'completion',
      shell,
    ]);
    expect(tested).toContain('erp-proxy');
    const { stdout } = await startShell(`npx erp-proxy completion ${shell}`, { folder: installed, env: ENV })
      .ended;
    expect(stdout).toBe(tested);
  });
});
