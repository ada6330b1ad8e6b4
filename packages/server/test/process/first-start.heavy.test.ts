/** Tests the first start on a terminal: it creates the secrets that are not set, and prints a link to the console. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { send } from '../harness.ts';
import {
  HAS_TERMINAL,
  makeFolder,
  type Program,
  printLine,
  runProgram,
  startOnTerminal,
  startProgram,
  startServer,
} from './program.ts';

const LINK = /http:\/\/127\.0\.0\.1:\d+\/sign-in#code=([\w.-]+)/;
const LISTENING = /"url":"(http:[^"]+)"/;

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

const secretsFile = () => join(folder, 'data/secrets.yaml');
const readSecrets = () => parseYaml(readFileSync(secretsFile(), 'utf8'));

const serve = (args: readonly string[] = [], env: Record<string, string> = {}) =>
  startOnTerminal(printLine(['serve', '--http.port=0', ...args]), { folder, env });

/** Writes a module that makes a function of `node:fs` fail, as a file system can. Returns its URL. */
function writeFault(name: string, code: string): string {
  const path = join(folder, 'fault.mjs');
  const text = `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.${name} = () => { throw Object.assign(new Error('${code}'), { code: '${code}' }); };
    syncBuiltinESMExports();`;
  writeFileSync(path, text);
  return pathToFileURL(path).href;
}

async function signIn(url: string, code: string) {
  return send(`${url}/admin/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
}

async function stop(program: Program): Promise<void> {
  program.kill('SIGTERM');
  expect((await program.ended).status).toBe(0);
}

describe.runIf(HAS_TERMINAL)('on a terminal', () => {
  test('creates the secrets, says so in two lines, and prints a link that signs in', async () => {
    const first = serve();
    const [, url = ''] = await first.waitFor(LISTENING);
    const [created = '', ...more] = first.stdout.split('\r\n').slice(0, 3);
    expect(created).toBe(
      'Created data/secrets.yaml, which only you can read, with random values for admin.token and vault.masterKey.',
    );
    expect(more).toEqual(['Back it up as well: a restored proxy needs it.', '']);
    expect(statSync(secretsFile()).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'data')).filter((name) => name.startsWith('secrets'))).toEqual([
      'secrets.yaml',
    ]);
    const { admin, vault } = readSecrets();
    expect(Buffer.from(admin.token, 'base64url')).toHaveLength(32);
    expect(Buffer.from(vault.masterKey, 'base64')).toHaveLength(32);
    const [, code = ''] = LINK.exec(first.stdout) ?? [];
    expect((await signIn(url, code)).status).toBe(200);
    expect((await signIn(url, code)).status).toBe(401);
    for (const secret of [admin.token, vault.masterKey]) expect(first.stdout).not.toContain(secret);
    await stop(first);
  });

  test('the second start uses the same secrets and only says how to get a link', async () => {
    const first = serve();
    await first.waitFor(LISTENING);
    await stop(first);
    const before = readFileSync(secretsFile(), 'utf8');
    const second = serve();
    const [, url = ''] = await second.waitFor(LISTENING);
    expect(second.stdout).not.toMatch(/Created|sign-in#/);
    expect(second.stdout).toContain('for a link that signs you in: erp-proxy console');
    expect(readFileSync(secretsFile(), 'utf8')).toBe(before);
    const printed = await runProgram(['console', '--json', '--url', url], { folder });
    const { url: link } = JSON.parse(printed.stdout);
    expect((await signIn(url, link.split('#code=')[1])).status).toBe(200);
    await stop(second);
  });

  test('every command reads the file: instances can be stored, and config print names the source', async () => {
    const server = serve();
    await server.waitFor(LISTENING);
    await stop(server);
    const added = await runProgram(
      [
        'instances',
        'add',
        'prod',
        '--erp-url=https://erp.example.com',
        '--db=prod',
        '--user-id=2',
        '--api-key-file=-',
      ],
      { folder, input: 'odoo-key-0123456789' },
    );
    expect(added.stderr).not.toMatch(/master key/);
    expect(added.status).toBe(0);
    const { stdout } = await runProgram(['config', 'print'], { folder });
    expect(stdout).toMatch(/^admin\.token = "\*\*\*" +# data\/secrets\.yaml:\d+$/m);
    expect(stdout).toMatch(/^vault\.masterKey = "\*\*\*" +# data\/secrets\.yaml:\d+$/m);
  });

  test.each([
    ['vault.masterKey', 'vault', { ERP_PROXY_ADMIN_TOKEN: 'a token of the environment, long enough' }],
    ['admin.token', 'admin', { ERP_PROXY_VAULT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }],
  ])('creates %s only if the other one is set', async (name, group, env) => {
    const server = serve([], env);
    await server.waitFor(LISTENING);
    expect(server.stdout).toContain(`with random values for ${name}.`);
    expect(Object.keys(readSecrets())).toEqual([group]);
    await stop(server);
  });

  test('creates no master key in place of one that has sealed instances', async () => {
    const masterKey = Buffer.alloc(32, 7).toString('base64');
    const added = await runProgram(
      [
        'instances',
        'add',
        'prod',
        '--erp-url=https://erp.example.com',
        '--db=prod',
        '--user-id=2',
        '--api-key-file=-',
      ],
      { folder, input: 'odoo-key-0123456789', env: { ERP_PROXY_VAULT_MASTER_KEY: masterKey } },
    );
    expect(added.status).toBe(0);
    const { status, stdout } = await serve().ended;
    expect(status).toBe(1);
    expect(stdout).toContain('with random values for admin.token.');
    expect(stdout).toContain('vault.masterKey');
    expect(Object.keys(readSecrets())).toEqual(['admin']);
  });

  test.each([
    ['both are set', [`--admin.token=${'x'.repeat(40)}`, `--vault.masterKey=${'A'.repeat(43)}=`]],
    ['the store is in memory', ['--store.url=memory:']],
  ])('creates nothing if %s', async (_, args) => {
    const server = serve(args);
    await server.waitFor(LISTENING);
    expect(existsSync(secretsFile())).toBe(false);
    expect(server.stdout).not.toContain('Created');
    await stop(server);
  });

  test('several programs that start at the same moment use one file', async () => {
    const programs = [1, 2, 3].map(() => serve());
    const urls = await Promise.all(programs.map(async (program) => (await program.waitFor(LISTENING))[1]));
    const { admin } = readSecrets();
    const headers = { authorization: `Bearer ${admin.token}` };
    for (const url of urls) {
      expect((await send(`${url}/admin/v1/session`, { headers })).status).toBe(200);
    }
    expect(programs.filter(({ stdout }) => stdout.includes('Created data/secrets.yaml'))).toHaveLength(1);
    await Promise.all(programs.map(stop));
  });

  test('workers read the file that their primary created', async () => {
    const server = serve(['--workers=2']);
    const [, url = ''] = await server.waitFor(LISTENING);
    const headers = { authorization: `Bearer ${readSecrets().admin.token}` };
    for (let count = 0; count < 4; count++) {
      expect((await send(`${url}/admin/v1/session`, { headers })).status).toBe(200);
    }
    expect(server.stdout.match(/Created data/g)).toHaveLength(1);
    expect(server.stdout.match(new RegExp(LINK, 'g'))).toHaveLength(1);
    await stop(server);
  });

  test.each([
    ['linkSync', 'EPERM'],
    ['fsyncSync', 'ENOSPC'],
  ])('starts without them if %s fails with %s, and says so', async (name, code) => {
    const server = serve([], { NODE_OPTIONS: `--import=${writeFault(name, code)}` });
    await server.waitFor(LISTENING);
    expect(server.stdout).toContain(
      `data/secrets.yaml could not be created (${code}): the proxy starts without admin.token and vault.masterKey. Set them`,
    );
    expect(readdirSync(join(folder, 'data')).filter((file) => file.startsWith('secrets'))).toEqual([]);
    await stop(server);
  });

  test('no link if console.enabled is false', async () => {
    const server = serve(['--console.enabled=false']);
    await server.waitFor(LISTENING);
    expect(server.stdout).not.toMatch(/sign-in#|Console:/);
    await stop(server);
  });

  test('starts the sandbox when the administrator asks, and ends it with the process', async () => {
    const first = serve();
    const [, url = ''] = await first.waitFor(LISTENING);
    const ask = (method: string) =>
      send(`${url}/admin/v1/sandbox`, {
        method,
        headers: { authorization: `Bearer ${readSecrets().admin.token}` },
      });
    const made = await ask('POST');
    expect(made.status).toBe(201);
    const sandbox = JSON.parse(made.body.toString()).url;
    expect(sandbox).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect((await send(`${sandbox}/web/version`)).status).toBeLessThan(500);
    await stop(first);
    await expect(send(`${sandbox}/web/version`)).rejects.toThrow();
    // At the next start, the proxy has an instance.
    const second = serve();
    const [, again = ''] = await second.waitFor(LISTENING);
    const refused = await send(`${again}/admin/v1/sandbox`, {
      method: 'POST',
      headers: { authorization: `Bearer ${readSecrets().admin.token}` },
    });
    expect(refused.status).toBe(409);
    await stop(second);
  });

  test('starts no sandbox for an operator who has set the secrets', async () => {
    const token = 'a token of the environment, long enough';
    const server = serve([], {
      ERP_PROXY_ADMIN_TOKEN: token,
      ERP_PROXY_VAULT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    });
    const [, url = ''] = await server.waitFor(LISTENING);
    const headers = { authorization: `Bearer ${token}` };
    expect((await send(`${url}/admin/v1/sandbox`, { method: 'POST', headers })).status).toBe(404);
    await stop(server);
  });

  test('demo prints a link that signs in', async () => {
    const demo = startOnTerminal(printLine(['demo', '--http.port=0']), { folder });
    await demo.waitFor(/Ctrl-C/);
    const [link = '', code = ''] = LINK.exec(demo.stdout) ?? [];
    expect((await signIn(new URL(link).origin, code)).status).toBe(200);
    demo.kill('SIGTERM');
    await demo.ended;
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('without a terminal', () => {
  test('creates no file, and prints no link', async () => {
    const server = await startServer([], { folder });
    expect(existsSync(secretsFile())).toBe(false);
    expect((await send(`${server.url}/admin/v1/session`)).status).toBe(404);
    await stop(server);
    expect(server.stdout + server.stderr).not.toMatch(/sign-in|Console:|Created/);
  });

  test('prints no link with a token either', async () => {
    const env = { ERP_PROXY_ADMIN_TOKEN: 'a token of the environment, long enough' };
    const server = await startServer([], { folder, env });
    await stop(server);
    expect(server.stdout + server.stderr).not.toMatch(/sign-in|Console:/);
  });

  test('demo prints no link', async () => {
    const demo = startProgram(['demo', '--http.port=0'], { folder });
    await demo.waitFor(/Ctrl-C/);
    expect(demo.stdout).not.toContain('sign-in');
    demo.kill('SIGTERM');
    await demo.ended;
  });
});
