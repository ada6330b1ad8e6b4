/** `erp-proxy login`: a person signs in for the command line, which then acts as this person. */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type RunOptions, runCommand } from '../commands/run-command.ts';
import { type HttpAnswer, type ProxyOptions, send, startProxy } from '../harness.ts';
import { Browser, describeOperators, PUBLIC_URL, startScriptedProvider } from './scripted-provider.ts';

const MINUTE_MS = 60_000;
const CHALLENGE = 'a'.repeat(43);

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-login-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  return folder;
}

/** The address at the program, to which the page of the proxy leads, or the redirect of a failed sign-in. */
function readEnd({ headers, body }: HttpAnswer): string {
  const [, link] = /href="(http:[^"]+)"/.exec(body.toString()) ?? [];
  return link ?? String(headers.location);
}

async function start(options: ProxyOptions = {}) {
  const provider = await startScriptedProvider();
  const proxy = closeAfterTest(await startProxy({ ...options, settings: describeOperators(provider) }));
  const folder = makeFolder();
  const env = { XDG_CONFIG_HOME: folder };
  const run = (args: string[], more: Partial<RunOptions> = {}) =>
    runCommand([...args, '--url', proxy.url], { folder, env, ...more });

  /** Runs `login`, and signs in. `visit` is called with the address at which the browser ends. */
  async function login(visit: (address: string) => Promise<unknown> = (it) => send(it)) {
    const browser = new Browser(proxy);
    const printed = Promise.withResolvers<URL>();
    const ran = run(['login', '--no-browser'], {
      onComplaint(text) {
        const [address] = /https:\S+/.exec(text) ?? [];
        if (address !== undefined) printed.resolve(new URL(address));
      },
    });
    const { origin, pathname, search } = await printed.promise;
    expect(origin + pathname).toBe(`${PUBLIC_URL}/admin/v1/session/start`);
    const { headers } = await browser.ask(pathname + search);
    const asked = new URL(String(headers.location)).searchParams;
    const end = await browser.ask(browser.answer(asked));
    const visited = await visit(readEnd(end));
    return { ran: await ran, browser, visited, end };
  }

  const readSession = async () => {
    const stored = JSON.parse(await readFile(join(folder, 'erp-proxy/sessions.json'), 'utf8'));
    return String(stored[proxy.url]);
  };
  const ask = (session: string, path = '/session', method = 'GET') =>
    send(`${proxy.url}/admin/v1${path}`, { method, headers: { authorization: `Bearer ${session}` } });
  return { provider, proxy, folder, run, login, readSession, ask };
}

test('commands with --url then act as the person', async () => {
  const { proxy, folder, run, login } = await start();
  const { ran, browser, visited } = await login((address) => send(address));
  expect(ran.stdout).toContain(`as Ada Lovelace (admin) until`);
  expect(String((visited as { body: Buffer }).body)).toContain('You are signed in as Ada Lovelace.');
  // The browser itself has no session: the sign-in was for the program.
  expect(browser.cookies.size).toBe(0);
  expect((await stat(join(folder, 'erp-proxy/sessions.json'))).mode & 0o777).toBe(0o600);

  const made = await run(['keys', 'create', '--name', 'Shop', '--json']);
  expect([made.status, made.stderr]).toEqual([0, '']);
  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({ kind: 'admin', limit: 10 });
  const acts = items.flatMap((item) => (item.kind === 'admin' ? [`${item.actor.id} ${item.action}`] : []));
  expect(acts.toSorted()).toEqual(['corp/ada key.create', 'corp/ada login.person']);
});

test('asks the person before the program gets the session, on a page that no other page can show', async () => {
  const { provider, login } = await start();
  provider.claims = { name: 'Ada <b>"Lovelace"</b>' };
  const { end } = await login();
  expect([end.status, end.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(end.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect([end.headers['referrer-policy'], end.headers['cache-control']]).toEqual(['no-referrer', 'no-store']);
  const page = end.body.toString();
  expect(page).toContain('<strong>Ada &#60;b&#62;&#34;Lovelace&#34;&#60;/b&#62;</strong>');
  expect(page).toContain('Continue only if you have just run');
});

test('the address can be pasted, from a browser on another machine', async () => {
  const { run, proxy } = await start();
  const browser = new Browser(proxy);
  const printed = Promise.withResolvers<URL>();
  const questions: string[] = [];
  const ran = await run(['login', '--no-browser'], {
    onComplaint(text) {
      const [address] = /https:\S+/.exec(text) ?? [];
      if (address !== undefined) printed.resolve(new URL(address));
    },
    async ask(question) {
      questions.push(question);
      if (questions.length === 1) return 'https://erp.example.com/';
      const { pathname, search } = await printed.promise;
      const { headers } = await browser.ask(pathname + search);
      const asked = new URL(String(headers.location)).searchParams;
      return readEnd(await browser.ask(browser.answer(asked)));
    },
  });
  expect([ran.status, questions.length]).toEqual([0, 2]);
  expect(ran.stdout).toContain('as Ada Lovelace');
});

test('a code works once, and only with the proof of its program', async () => {
  const { proxy, login, readSession } = await start();
  let code = '';
  const take = (verifier: string) =>
    send(`${proxy.url}/admin/v1/session/program`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, verifier }),
    });
  const { ran } = await login(async (address) => {
    code = String(new URL(address).searchParams.get('code'));
    expect((await take('a'.repeat(43))).status).toBe(401);
    await send(address);
  });
  expect(ran.status).toBe(0);
  expect(await readSession()).toMatch(/^eps_v1\./);
  expect((await take('a'.repeat(43))).status).toBe(401);
  expect(JSON.stringify(proxy.log)).not.toContain(code);
});

test('two programs with one code: one gets the session', async () => {
  const { proxy } = await start();
  const browser = new Browser(proxy);
  const verifier = 'v'.repeat(43);
  // SHA-256 of the verifier in base64url.
  const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(verifier))).toString(
    'base64url',
  );
  const { headers } = await browser.ask(`/admin/v1/session/start?port=5000&challenge=${challenge}`);
  const asked = new URL(String(headers.location)).searchParams;
  const end = await browser.ask(browser.answer(asked));
  const code = new URL(readEnd(end)).searchParams.get('code');
  const take = () =>
    send(`${proxy.url}/admin/v1/session/program`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, verifier }),
    });
  const statuses = (await Promise.all([take(), take()])).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 401]);
});

test('a renewed session takes the place of the earlier one, and the earlier one still works for parallel commands', async () => {
  let now = Date.now();
  const { provider, run, login, readSession, ask } = await start({ clock: () => now });
  provider.now = () => Math.floor(now / 1000);
  await login();
  const first = await readSession();
  now += 61 * MINUTE_MS;
  const ran = await run(['keys', 'list']);
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  expect(await readSession()).not.toBe(first);
  expect((await ask(first)).status).toBe(200);
  expect((await ask(await readSession())).status).toBe(200);
});

test('ends when the provider does not know the person any more', async () => {
  let now = Date.now();
  const { provider, run, login } = await start({ clock: () => now });
  provider.now = () => Math.floor(now / 1000);
  await login();
  provider.refreshTokens.clear();
  now += 61 * MINUTE_MS;
  const ran = await run(['keys', 'list']);
  expect([ran.status, ran.stderr]).toEqual([
    1,
    expect.stringContaining('The session has ended: run `erp-proxy login` again.'),
  ]);
});

test('logout ends the session at the provider and here', async () => {
  const { provider, run, login, readSession } = await start();
  await login();
  const session = await readSession();
  expect((await run(['logout'])).status).toBe(0);
  await expect.poll(() => provider.revoked).toHaveLength(1);
  expect(await readSession()).toBe('undefined');
  expect((await run(['logout'])).stderr).toContain('You are not signed in');
  expect(session).toMatch(/^eps_/);
  expect((await run(['keys', 'list'])).stderr).toContain('erp-proxy login');
});

test.each([['no_role', { groups: [] }, 'Your account has no role at this proxy.']])(
  'says why nobody is signed in: %s',
  async (_, claims, message) => {
    const { provider, login } = await start();
    provider.claims = claims;
    const { ran } = await login();
    expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining(message)]);
  },
);

test('a token of the environment comes before the session', async () => {
  const { proxy, run, login } = await start();
  await login();
  const ran = await run(['keys', 'list'], { env: { ERP_PROXY_ADMIN_TOKEN: 'x'.repeat(40) } });
  expect(ran.stderr).toContain('This is not the admin token');
  expect(proxy.url).toMatch(/^http:/);
});

test.each([
  `port=80&challenge=${CHALLENGE}`,
  `port=70000&challenge=${CHALLENGE}`,
  'port=5000',
  `challenge=${CHALLENGE}`,
  'port=5000&challenge=short',
  `port=5000%40evil.example&challenge=${CHALLENGE}`,
])('refuses to begin a sign-in for a program with %s', async (query) => {
  const { proxy } = await start();
  expect((await send(`${proxy.url}/admin/v1/session/start?${query}`)).status).toBe(400);
});

test('without a provider, says what to use instead', async () => {
  const proxy = closeAfterTest(await startProxy({ settings: { 'admin.token': 'x'.repeat(32) } }));
  const folder = makeFolder();
  const ran = await runCommand(['login', '--url', proxy.url], { folder, env: { XDG_CONFIG_HOME: folder } });
  expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining('set operators.issuer there')]);
});
