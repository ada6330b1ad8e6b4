/** Tests that `doctor` finds the problems that calls would have: on every version, by address and for an instance. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import type { Examination } from '@erp-proxy/contract';
import { type Sandbox, startSandbox, type Version } from '@erp-proxy/sandbox';
import { beforeEach, describe, expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { runCommand } from '../commands/run-command.ts';
import { startProxy } from '../harness.ts';
import { makeFolder } from '../process/program.ts';
import { answerLikeOdoo, startUpstream } from '../scripted-upstream.ts';

const TOKEN = 'an-admin-token-of-more-than-32-characters';
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const WRONG_KEY = '0123456789012345678901234567890123456789';

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

async function start(version: Version, options: Partial<Parameters<typeof startSandbox>[0]> = {}) {
  return closeAfterTest(await startSandbox({ version, ...options }));
}

const run = (args: readonly string[], env: Record<string, string> = {}) => runCommand(args, { folder, env });

interface Asked {
  db?: string;
  userId?: number;
  apiKey?: string;
  more?: string[];
}

async function examine(sandbox: Sandbox, { db = sandbox.db, userId = 2, apiKey, more = [] }: Asked = {}) {
  const key = apiKey ?? sandbox.users.admin.apiKey;
  writeFileSync(join(folder, 'key'), `${key}\n`);
  const ran = await run([
    ...['doctor', sandbox.url, '--json', `--egress.allow=${sandbox.url}`],
    ...[`--db=${db}`, `--user-id=${userId}`, '--api-key-file=key', ...more],
  ]);
  expect(ran.stderr).toBe('');
  // The password `admin` equals the login of its user, which may be printed.
  if (key !== 'admin') expect(ran.stdout).not.toContain(key);
  const examination = JSON.parse(ran.stdout) as Examination;
  expect(ran.status).toBe(examination.ok ? 0 : 1);
  return examination;
}

const stateOf = ({ checks }: Examination, name: string) => checks.find((check) => check.name === name)?.state;
const lastOf = ({ checks }: Examination) => checks.at(-1);

describe.each([14, 15, 16, 17, 18, 19, 22] as const)('in front of Odoo %i', (version) => {
  const protocol = version >= 19 ? 'json2' : 'jsonrpc';

  test('finds no problem, and reports user, protocol and the time of a call', async () => {
    const found = await examine(await start(version));
    expect(found).toMatchObject({
      ok: true,
      version: expect.stringContaining(String(version)),
      protocol,
      user: { id: 2, name: 'Mitchell Admin', login: 'admin', company: expect.stringMatching(/./) },
      round_trip_ms: expect.any(Number),
    });
    expect(found.checks.map(({ name }) => name)).toEqual([
      'url',
      'dns',
      'egress',
      'connection',
      'tls',
      'odoo',
      'version',
      'database',
      'user',
      'key',
      'expiry',
      'protocol',
      'time',
    ]);
  });

  test('finds the number of a user by the login', async () => {
    const sandbox = await start(version);
    writeFileSync(join(folder, 'key'), sandbox.users.demo.apiKey);
    const ask = (...more: string[]) =>
      run([
        ...['doctor', sandbox.url, '--json', `--egress.allow=${sandbox.url}`, '--api-key-file=key'],
        ...more,
      ]);
    const found = JSON.parse((await ask('--db=sandbox', '--login=demo')).stdout);
    expect(found).toMatchObject({ ok: true, user: { id: sandbox.users.demo.userId, login: 'demo' } });
    const nobody = JSON.parse((await ask('--db=sandbox', '--login=nobody')).stdout);
    expect(lastOf(nobody)).toMatchObject({ state: 'failed', text: expect.stringContaining('nobody') });
    const nowhere = JSON.parse((await ask('--db=nowhere', '--login=demo')).stdout);
    expect(lastOf(nowhere)).toMatchObject({ name: 'database', state: 'failed' });
    const both = await ask('--db=sandbox', '--login=demo', '--user-id=2');
    expect(both).toMatchObject({ status: 2, stderr: expect.stringMatching(/--user-id or --login/) });
  });

  test('without credentials reports that the server works', async () => {
    const { url } = await start(version);
    const { status, stdout } = await run(['doctor', url, `--egress.allow=${url}`]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ok {6}odoo +it is called over /m);
    expect(stdout).toMatch(new RegExp(`^ok {6}version +Odoo ${version}\\.`, 'm'));
    expect(stdout).toMatch(/^- {7}user +give database, user and key/m);
  });

  test('distinguishes a wrong database, a wrong user and a wrong key, if Odoo does', async () => {
    const sandbox = await start(version);
    const noDatabase = await examine(sandbox, { db: 'nowhere' });
    expect(lastOf(noDatabase)).toMatchObject({ name: 'database', state: 'failed' });

    const wrongKey = await examine(sandbox, { apiKey: WRONG_KEY });
    expect(stateOf(wrongKey, 'database')).toBe('ok');
    expect(lastOf(wrongKey)).toMatchObject({ name: 'key', state: 'failed' });

    const nobody = await examine(sandbox, { userId: 4711 });
    expect(stateOf(nobody, 'database')).toBe('ok');
    expect(lastOf(nobody)).toMatchObject({
      name: 'user',
      state: 'failed',
      text: expect.stringMatching(/4711/),
    });

    const other = await examine(sandbox, { userId: sandbox.users.demo.userId });
    const isKnown = version >= 19;
    expect(lastOf(other)).toMatchObject({
      name: isKnown ? 'user' : 'key',
      state: 'failed',
      text: expect.stringMatching(isKnown ? /the key is that of user 2/ : /another user/),
    });
  });
});

test.each([18, 19, 22] as const)('reports when the key expires, on %i', async (version) => {
  const keysExpireAt = Date.parse('2031-05-06T07:08:09Z');
  const found = await examine(await start(version, { keysExpireAt }));
  expect(found.key).toEqual({ expires_at: '2031-05-06T07:08:09.000Z', is_expiry_known: true });
  expect(found.checks).toContainEqual({
    name: 'expiry',
    state: 'ok',
    text: expect.stringMatching(/ends at 2031-05-06T07:08:09\.000Z, in \d+ days$/),
  });
});

test('reports that keys of 16 do not expire, and that a password is not a key', async () => {
  const sandbox = await start(16);
  expect((await examine(sandbox)).key).toEqual({ expires_at: null, is_expiry_known: true });
  const password = await examine(sandbox, { apiKey: 'admin' });
  expect(password).toMatchObject({ ok: true, key: { is_expiry_known: false } });
  expect(password.checks).toContainEqual(expect.objectContaining({ name: 'expiry', state: 'skipped' }));
});

test('a login is found with the password of the same text, and over /json/2 by the key alone', async () => {
  const sandbox = await start(19);
  const ask = (login: string, key: string, protocol: string) => {
    writeFileSync(join(folder, 'key'), key);
    return run([
      ...['doctor', sandbox.url, '--db=sandbox', `--login=${login}`, '--api-key-file=key'],
      ...[`--egress.allow=${sandbox.url}`, `--upstream.protocol=${protocol}`],
    ]);
  };
  expect(await ask('admin', 'admin', 'jsonrpc')).toMatchObject({ status: 0 });
  const { demo } = sandbox.users;
  expect(await ask('demo', demo.apiKey, 'json2')).toMatchObject({ status: 0 });
  expect(await ask('admin', demo.apiKey, 'json2')).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^FAILED {2}user +the key is that of demo, not of admin\n/m),
  });
});

test('uses the protocol in the settings, as calls do', async () => {
  const sandbox = await start(19);
  expect((await examine(sandbox, { more: ['--upstream.protocol=jsonrpc'] })).protocol).toBe('jsonrpc');
  const only = [`--upstream.protocolFor=${sandbox.url}=json2`, '--upstream.protocol=jsonrpc'];
  expect((await examine(sandbox, { more: only })).protocol).toBe('json2');
});

test('reports what is wrong with a server that is not Odoo, or does not answer', async () => {
  const other = closeAfterTest(
    await startUpstream((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
    }),
  );
  const page = await run(['doctor', other.url, `--egress.allow=${other.url}`]);
  expect(page).toMatchObject({ status: 1, stderr: '' });
  expect(page.stdout).toMatch(/^FAILED {2}odoo .*path prefix/m);
  const silent = closeAfterTest(await startUpstream(() => {}));
  const none = await run(['doctor', silent.url, `--egress.allow=${silent.url}`, '--upstream.timeoutMs=300']);
  expect(none).toMatchObject({ status: 1, stderr: '' });
  expect(none.stdout).toMatch(/^FAILED {2}odoo +no answer in time; /m);
  const refusing = closeAfterTest(
    await startUpstream((socket) => {
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nbad');
    }),
  );
  const unreached = await run(['doctor', refusing.url, `--egress.allow=${refusing.url}`]);
  expect(unreached).toMatchObject({ status: 1, stderr: '' });
  expect(unreached.stdout.match(/\(HTTP 502\)/g)).toHaveLength(1);
  const odd = closeAfterTest(
    await startUpstream((socket) => answerLikeOdoo(socket, '{"jsonrpc":"2.0","id":1,"result":7}')),
  );
  expect((await run(['doctor', odd.url, `--egress.allow=${odd.url}`])).stdout).not.toMatch(
    /undefined|\[object/,
  );
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['endless interim answers', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)],
])('reports that a server is not Odoo if it sends %s', async (_what, text) => {
  const other = closeAfterTest(await startUpstream((socket) => void socket.write(text)));
  const found = await run(['doctor', other.url, `--egress.allow=${other.url}`]);
  expect(found).toMatchObject({ status: 1, stderr: '' });
  expect(found.stdout).toMatch(/^FAILED {2}odoo .*not as Odoo does/m);
});

test.each([
  ['https://erp.example.com/jsonrpc', 'https://erp.example.com'],
  ['/odoo/jsonrpc', 'the path /odoo'],
])('tells where a server redirects calls to: %s', async (location, target) => {
  const head = `HTTP/1.1 308 Permanent Redirect\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
  const moved = closeAfterTest(await startUpstream((socket) => void socket.write(head)));
  const found = await run(['doctor', moved.url, `--egress.allow=${moved.url}`]);
  expect(found).toMatchObject({ status: 1, stderr: '' });
  expect(found.stdout).toMatch(
    new RegExp(`^FAILED {2}odoo .*\\(HTTP 308\\); it redirects to ${target}$`, 'm'),
  );
});

test('explains a failed TLS handshake in one line, without source files or flags', async () => {
  const plain = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  closeAfterTest(plain);
  const secured = createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }).listen(0, '127.0.0.1');
  await once(secured, 'listening');
  closeAfterTest(secured);
  for (const server of [plain, secured]) {
    const { port } = server.address() as { port: number };
    const found = await run(['doctor', `https://127.0.0.1:${port}`, '--egress.allow=127.0.0.1']);
    expect(found).toMatchObject({ status: 1, stderr: '' });
    expect(found.stdout).toMatch(
      /^FAILED {2}tls .*(wrong version number|self-signed certificate); check the .*\n$/m,
    );
    expect(found.stdout.includes('--certificates-file')).toBe(server === secured);
    expect(found.stdout).not.toMatch(/openssl|Node|--use/);
  }
});

test('trusts the certificates of --certificates-file', async () => {
  const options = { key: TEST_KEY, cert: TEST_CERTIFICATE };
  const secured = createSecureServer(options, (_request, response) => response.end());
  secured.listen(0, '127.0.0.1');
  await once(secured, 'listening');
  closeAfterTest(secured);
  const { port } = secured.address() as { port: number };
  const doctor = (file: string) =>
    run(['doctor', `https://localhost:${port}`, `--egress.allow=https://localhost:${port}`, file]);
  writeFileSync(join(folder, 'ca.pem'), TEST_CERTIFICATE);
  writeFileSync(join(folder, 'no.pem'), 'no certificate');
  expect((await doctor('--certificates-file=ca.pem')).stdout).toMatch(/^ok {6}tls /m);
  expect(await doctor('--certificates-file=no.pem')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^--certificates-file must be PEM: /),
  });
});

test.each([
  ['doctor', []],
  ['types', ['--models=res.partner', '--key=ep_x']],
])('%s sends no key of a file in another encoding', async (command, more) => {
  const sandbox = await start(18);
  // `>` of Windows PowerShell writes files in this encoding.
  writeFileSync(join(folder, 'key'), `\ufeff${sandbox.users.admin.apiKey}\r\n`, 'utf16le');
  const args = ['--db=sandbox', '--user-id=2', '--api-key-file=key', `--egress.allow=${sandbox.url}`];
  expect(await run([command, sandbox.url, ...args, ...more])).toEqual({
    status: 2,
    stdout: '',
    stderr: 'key: the file is not UTF-8; save it in this encoding.\n',
  });
});

test('sends no empty key', async () => {
  const sandbox = await start(18);
  writeFileSync(join(folder, 'key'), '\n');
  const args = ['--db=sandbox', '--user-id=2', '--api-key-file=key', `--egress.allow=${sandbox.url}`];
  expect(await run(['doctor', sandbox.url, ...args])).toEqual({
    status: 2,
    stdout: '',
    stderr: '--api-key-file: there is no key in key.\n',
  });
});

describe('a stored instance', () => {
  const env = { ERP_PROXY_VAULT_MASTER_KEY: MASTER_KEY };
  const add = (url: string, key: string, ...more: string[]) => {
    writeFileSync(join(folder, 'key'), key);
    const args = ['instances', 'add', 'prod', `--erp-url=${url}`, '--db=sandbox', '--user-id=2', ...more];
    return run([...args, '--api-key-file=key', '--allow-private'], env);
  };

  test('is read from the store in the settings, and checked with its own members', async () => {
    const sandbox = await start(22);
    expect((await add(sandbox.url, sandbox.users.admin.apiKey)).status).toBe(0);
    const ran = await run(['doctor', '--instance=prod', '--json'], env);
    expect(ran).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Store: /) });
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true, protocol: 'json2', user: { login: 'admin' } });
    expect(ran.stdout + ran.stderr).not.toContain(sandbox.users.admin.apiKey);
    expect(await run(['doctor', '--instance=nobody'], env)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/There is no instance "nobody"\.\n$/),
    });
  });

  test('is checked before it is stored', async () => {
    const sandbox = await start(18);
    const names = async () =>
      JSON.parse((await run(['instances', 'list', '--json'], env)).stdout).map(
        ({ name }: { name: string }) => name,
      );
    const wrong = await add(sandbox.url, WRONG_KEY);
    expect(wrong).toMatchObject({ status: 1, stdout: '' });
    expect(wrong.stderr).toMatch(/Nothing is stored: key: Odoo refuses it: .*--no-check/);
    expect(wrong.stderr).not.toContain(WRONG_KEY);
    await run(['keys', 'create', '--name=a'], env);
    expect(await names()).toEqual([]);
    expect(await add(sandbox.url, sandbox.users.admin.apiKey)).toMatchObject({
      status: 0,
      stdout: 'Instance prod is stored: user 2 is Mitchell Admin (admin) of YourCompany.\n',
    });
    await run(['instances', 'remove', 'prod'], env);
    expect(await add(sandbox.url, WRONG_KEY, '--no-check')).toMatchObject({
      status: 0,
      stdout: 'Instance prod is stored.\n',
    });
    expect(await names()).toEqual(['prod']);
  });

  test('is stored unchecked if its server cannot be reached', async () => {
    const { url, close } = await startUpstream(() => {});
    await close();
    expect(await add(url, WRONG_KEY)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Instance prod is stored: not checked, connection: refused /),
    });
  });

  test.each(['the store', 'a running proxy'])('takes a login in place of a number, on %s', async (where) => {
    const sandbox = await start(19);
    const proxy = closeAfterTest(
      await startProxy({
        settings: { 'admin.token': TOKEN, 'vault.masterKey': MASTER_KEY, 'upstream.protocol': 'auto' },
      }),
    );
    const place = where === 'the store' ? [] : ['--url', proxy.url];
    const addBy = (...user: string[]) =>
      run(
        [
          ...['instances', 'add', 'prod', `--erp-url=${sandbox.url}`, '--db=sandbox', '--allow-private'],
          ...['--api-key-file=key', ...user, ...place],
        ],
        { ...env, ERP_PROXY_ADMIN_TOKEN: TOKEN },
      );
    writeFileSync(join(folder, 'key'), sandbox.users.demo.apiKey);
    expect(await addBy('--login=nobody')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/Nothing is stored: user: .*nobody/),
    });
    expect(await addBy('--login=demo', '--user-id=2')).toMatchObject({ status: 2 });
    expect(await addBy()).toMatchObject({ status: 2, stderr: expect.stringMatching(/--login/) });
    expect(await addBy('--login=demo')).toMatchObject({ status: 0 });
    const shown = await run(['instances', 'show', 'prod', '--json', ...place], {
      ...env,
      ERP_PROXY_ADMIN_TOKEN: TOKEN,
    });
    expect(JSON.parse(shown.stdout).user_id).toBe(sandbox.users.demo.userId);
  });

  test('is checked by a running proxy, which knows its key', async () => {
    const sandbox = await start(19);
    const proxy = closeAfterTest(
      await startProxy({
        settings: { 'admin.token': TOKEN, 'vault.masterKey': MASTER_KEY, 'upstream.protocol': 'auto' },
      }),
    );
    const instance = { name: 'prod', url: sandbox.url, db: sandbox.db, user_id: 2, allow_private: true };
    await proxy.app.instances.add({ ...instance, api_key: sandbox.users.admin.apiKey });
    await proxy.app.instances.add({ ...instance, name: 'wrong', api_key: WRONG_KEY });
    const check = (name: string) =>
      run(['doctor', `--instance=${name}`, '--url', proxy.url], { ERP_PROXY_ADMIN_TOKEN: TOKEN });
    const well = await check('prod');
    expect(well).toMatchObject({ status: 0, stderr: '' });
    expect(well.stdout).toMatch(/^ok {6}user +2 is Mitchell Admin \(admin\) of /m);
    const wrong = await check('wrong');
    expect(wrong).toMatchObject({ status: 1, stderr: '' });
    expect(wrong.stdout).toMatch(
      /^FAILED {2}key +Odoo knows no such key for calls: .* another scope than RPC/m,
    );
    expect(await check('nobody')).toMatchObject({ status: 1, stderr: expect.stringContaining('nobody') });
    expect(wrong.stdout + well.stdout).not.toContain(sandbox.users.admin.apiKey);
  });

  test('is checked by the running proxy if the command itself may not reach the server', async () => {
    const sandbox = await start(18);
    const proxy = closeAfterTest(
      await startProxy({
        allow: [sandbox.url],
        settings: { 'admin.token': TOKEN, 'vault.masterKey': MASTER_KEY, 'upstream.protocol': 'auto' },
      }),
    );
    const instance = { name: 'prod', url: sandbox.url, db: 'sandbox', user_id: 2 };
    await proxy.app.instances.add({ ...instance, api_key: sandbox.users.admin.apiKey });
    writeFileSync(join(folder, 'key'), sandbox.users.admin.apiKey);
    const args = ['instances', 'add', 'prod', `--erp-url=${sandbox.url}`, '--db=sandbox', '--user-id=2'];
    expect((await run([...args, '--api-key-file=key'], env)).stderr).toMatch(/Warning: .*refused/);
    const doctor = ['doctor', '--instance=prod'];
    const { port } = new URL(proxy.url);
    const asked = await run([...doctor, `--http.port=${port}`], { ...env, ERP_PROXY_ADMIN_TOKEN: TOKEN });
    expect(asked).toMatchObject({ status: 0, stderr: expect.stringContaining(proxy.url) });
    expect(asked.stdout).toMatch(/^ok {6}user +2 is Mitchell Admin/m);
    // No server listens on port 1.
    for (const [place, more] of [
      ['--http.port=1', { ERP_PROXY_ADMIN_TOKEN: TOKEN }],
      [`--http.port=${port}`, {}],
    ] as const) {
      expect(await run([...doctor, place], { ...env, ...more })).toMatchObject({
        status: 1,
        stdout: expect.stringMatching(/^FAILED {2}egress /m),
        stderr: expect.stringMatching(/ask it with --url/),
      });
    }
  });

  test('is given instead of an address, and without credentials', async () => {
    for (const [args, says] of [
      [['doctor'], /address of an Odoo server, or a stored instance/],
      [
        ['doctor', 'https://erp.example', '--instance=prod'],
        /address of an Odoo server, or a stored instance/,
      ],
      [['doctor', 'https://erp.example', '--url=https://proxy.example'], /--url goes with --instance/],
      [['doctor', '--instance=prod', '--db=a', '--user-id=2', '--api-key-file=key'], /leave the others out/],
    ] as const) {
      writeFileSync(join(folder, 'key'), 'x');
      expect(await run(args)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(says) });
    }
  });
});
