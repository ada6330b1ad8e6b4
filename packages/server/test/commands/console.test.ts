/** `console`: a link that the running proxy accepts, or what is missing. */

import { createSignInCodes } from '@erp-proxy/admin/sign-in-codes';
import { beforeEach, expect, test } from 'vitest';
import { makeFolder } from '../process/program.ts';
import { runCommand } from './run-command.ts';

const TOKEN = 'the-admin-token-of-these-tests-0123456789';
const LINK = /^(http\S+)\/sign-in#code=([\w.-]+)$/;

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

const run = (args: readonly string[] = [], env: Record<string, string> = {}) =>
  runCommand(['console', ...args], { folder, env: { ERP_PROXY_ADMIN_TOKEN: TOKEN, ...env } });

test('prints a new link each time, which is signed with the admin token', async () => {
  const codes = createSignInCodes({ token: TOKEN, clock: Date.now });
  const nonces = new Set<string>();
  for (let count = 0; count < 2; count++) {
    const before = Date.now();
    const { status, stdout } = await run();
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^Open this link to sign in to the console\. It works once, within 15 minutes:\n\n {2}http/,
    );
    const [, base, code = ''] = LINK.exec(stdout.trim().split(/\s+/).at(-1) ?? '') ?? [];
    expect(base).toBe('http://127.0.0.1:8787');
    const read = codes.read(code);
    expect(read?.expiresAt).toBeGreaterThanOrEqual(before + 15 * 60_000);
    expect(read?.expiresAt).toBeLessThanOrEqual(Date.now() + 15 * 60_000);
    nonces.add(read?.nonce ?? '');
  }
  expect(nonces.size).toBe(2);
});

test('prints JSON for programs', async () => {
  const { stdout } = await run(['--json']);
  const { url, expires_at } = JSON.parse(stdout);
  const [, , code = ''] = LINK.exec(url) ?? [];
  const read = createSignInCodes({ token: TOKEN, clock: Date.now }).read(code);
  expect(new Date(expires_at).getTime()).toBe(read?.expiresAt);
});

test.each([
  [['--http.port=9000'], {}, 'http://127.0.0.1:9000'],
  [['--http.host=0.0.0.0'], {}, 'http://127.0.0.1:8787'],
  [['--http.host=::'], {}, 'http://[::1]:8787'],
  [['--http.publicUrl=https://erp.example.com'], {}, 'https://erp.example.com'],
  [['--http.publicUrl=https://example.com/erp/'], {}, 'https://example.com/erp'],
  [['--http.publicUrl=https://erp.example.com'], { ERP_PROXY_URL: 'http://a.test' }, 'http://a.test'],
  [['--url=http://b.test:1/'], { ERP_PROXY_URL: 'http://a.test' }, 'http://b.test:1'],
])('with %j and %j the link begins with %s', async (args, env, base) => {
  const { stdout } = await run(['--json', ...args], env);
  expect(LINK.exec(JSON.parse(stdout).url)?.[1]).toBe(base);
});

test.each([
  ['with an address that is none', ['--url=shop'], /^--url "shop" is not the address of a proxy/, 2],
  ['with any port', ['--http.port=0'], /^http\.port is 0.*give --url/, 2],
  ['if the console is off', ['--console.enabled=false'], /^console\.enabled is false.*Set it to true/, 1],
])('explains what to do %s', async (_, args, message, status) => {
  const ran = await run(args);
  expect(ran.stderr).toMatch(message);
  expect(ran).toMatchObject({ status, stdout: '' });
});

test('says how to get a token if there is none', async () => {
  const ran = await run([], { ERP_PROXY_ADMIN_TOKEN: '' });
  expect(ran).toMatchObject({ status: 1, stdout: '' });
  expect(ran.stderr).toMatch(
    /^admin\.token is not set\. Start the proxy once on a terminal.*ERP_PROXY_ADMIN_TOKEN_FILE names\.$/m,
  );
});
