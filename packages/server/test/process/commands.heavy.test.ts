/** Tests the commands that end by themselves: their output and exit status. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import { answerLikeOdoo, startUpstream } from '../scripted-upstream.ts';
import { makeFolder, printLine, runProgram, startProgram, startServer, startShell } from './program.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ version: 17 });
});
afterAll(() => sandbox.close());

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

const run = (args: string[], input = '') => runProgram(args, { folder, input });

describe('demo', () => {
  test('--once prints one real call with its answer, and exits with 0', async () => {
    const { status, stdout, stderr } = await run(['demo', '--once']);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toContain('curl -s http://127.0.0.1:');
    const answer = stdout.split('\n').find((line) => line.startsWith('{"jsonrpc"'));
    expect(JSON.parse(answer as string).result).toHaveLength(3);
  });

  test('runs until it is stopped, and the call that it prints works', async () => {
    const demo = startProgram(['demo', '--http.port=0'], { folder });
    await demo.waitFor(/Ctrl-C ends them/);
    const [, url] = /curl -s (\S+)/.exec(demo.stdout) ?? [];
    const [, key] = /x-proxy-api: (\S+)'/.exec(demo.stdout) ?? [];
    const [, body] = /-d '(.*)'/.exec(demo.stdout) ?? [];
    const headers = { 'x-proxy-api': key as string, 'content-type': 'application/json' };
    const answer = await send(url as string, { method: 'POST', headers, body: body as string });
    expect(JSON.parse(answer.body.toString()).result).toHaveLength(3);
    demo.kill('SIGINT');
    expect((await demo.ended).status).toBe(0);
  });
});

test('a command whose output cannot be written prints one line of error, and exits with 1', async () => {
  await run(['keys', 'create', '--name=shop']);
  const command = `${printLine(['keys', 'list'])} > /dev/full`;
  const { status, stderr } = await startShell(command, { folder }).ended;
  expect(stderr).toMatch(/^Store: .*\nStandard output cannot be written \(ENOSPC\): it is not whole\.\n$/);
  expect(status).toBe(1);
});

test('sandbox --json prints its URL and its users, and behaves as the requested version', async () => {
  const program = startProgram(['sandbox', '--version=16', '--port=0', '--json'], { folder });
  const [line] = await program.waitFor(/.*\n/);
  const { url, db, users } = JSON.parse(line);
  expect(db).toMatch(/./);
  expect(users.admin).toMatchObject({ userId: 2 });
  const answer = await send(`${url}/web/webclient/version_info`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(JSON.parse(answer.body.toString()).result.server_serie).toBe('16.0');
  program.kill('SIGTERM');
  expect((await program.ended).status).toBe(0);
});

describe('doctor', () => {
  const examine = async (url: string, args: string[] = [], input = '') => {
    const { status, stdout, stderr } = await run(['doctor', url, '--json', ...args], input);
    expect(stderr).toBe('');
    return { status, ...JSON.parse(stdout) };
  };
  const allow = () => `--egress.allow=${sandbox.url}`;
  const credentials = () => [
    `--db=${sandbox.db}`,
    `--user-id=${sandbox.users.admin.userId}`,
    '--api-key-file=-',
  ];

  test('finds nothing wrong with a server that works', async () => {
    const { status, ok, checks } = await examine(
      sandbox.url,
      [allow(), ...credentials()],
      sandbox.users.admin.apiKey,
    );
    expect({ status, ok }).toEqual({ status: 0, ok: true });
    expect(checks).toContainEqual({
      name: 'version',
      state: 'ok',
      text: expect.stringContaining('Odoo 17.0'),
    });
    expect(checks).toContainEqual({ name: 'key', state: 'ok', text: expect.any(String) });
  });

  const expectFailed = async (name: string, says: RegExp, ...args: Parameters<typeof examine>) => {
    const { status, ok, checks } = await examine(...args);
    expect({ status, ok }).toEqual({ status: 1, ok: false });
    expect(checks.at(-1)).toEqual({ name, state: 'failed', text: expect.stringMatching(says) });
  };

  test('names a wrong path, a refused port, a forbidden address and refused credentials', async () => {
    await expectFailed('odoo', /path prefix/, `${sandbox.url}/nowhere`, [allow()]);
    const gone = await startUpstream((socket) => answerLikeOdoo(socket, ''));
    await gone.close();
    await expectFailed('connection', /refused/, gone.url, [`--egress.allow=${gone.url}`]);
    await expectFailed('egress', new RegExp(`--egress.allow ${sandbox.url}`), sandbox.url);
    await expectFailed('key', /wrong or has ended/, sandbox.url, [allow(), ...credentials()], 'wrong');
    await expectFailed('url', /https:/, 'ftp://odoo.example');
  });

  test('names the entry of the allow list that helps, and the position of a wrong entry', async () => {
    const { checks } = await examine('http://169.254.169.254');
    expect(checks.at(-1)).toEqual({
      name: 'egress',
      state: 'failed',
      text: '169.254.169.254 is metadata: name the address in egress.allow to reach it',
    });
    const { status, stderr } = await run(['doctor', sandbox.url, '--egress.allow=http://169.254.169.254']);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /^egress\.allow: "http:\/\/169\.254\.169\.254": .*only by an entry that is the address/,
    );
  });

  test('requires all or none of the credentials', async () => {
    const { status, stderr } = await run(['doctor', sandbox.url, '--db=x']);
    expect(status).toBe(2);
    expect(stderr).toContain('--api-key-file together');
  });
});

describe('call', () => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy({ allow: [sandbox.url] });
  });
  afterAll(() => proxy.close());

  const print = (changes: Record<string, unknown> = {}) =>
    JSON.stringify({
      id: 'n',
      action: 'search_count',
      model_id: 'res.partner',
      params: [[]],
      erp_instance: { url: sandbox.url, db: sandbox.db, user_id: 2, api_key: sandbox.users.admin.apiKey },
      ...changes,
    });

  test('sends a file or standard input, and prints the answer', async () => {
    writeFileSync(join(folder, 'call.json'), print());
    writeFileSync(join(folder, 'key'), `${proxy.key}\n`);
    const fromFile = await run(['call', 'call.json', '--url', proxy.url, '--key-file', 'key']);
    expect(fromFile.stderr).toBe('');
    expect(JSON.parse(fromFile.stdout)).toEqual({ jsonrpc: '2.0', id: 'n', result: expect.any(Number) });
    expect(fromFile.status).toBe(0);
    const fromInput = await run(['call', '--url', proxy.url, '--key', proxy.key], print());
    expect(fromInput).toEqual(fromFile);
  });

  test('reads the key and the URL from the environment, unless options give them', async () => {
    const env = { ERP_PROXY_URL: proxy.url, ERP_PROXY_KEY: proxy.key };
    const called = await runProgram(['call'], { folder, env, input: print() });
    expect(called).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(called.stdout)).toMatchObject({ id: 'n' });
    const options = ['call', '--url', proxy.url, '--key', proxy.key];
    const wrong = { ERP_PROXY_URL: 'http://127.0.0.1:1', ERP_PROXY_KEY: 'ep_bad' };
    expect(await runProgram(options, { folder, env: wrong, input: print() })).toEqual(called);
    writeFileSync(join(folder, 'key'), proxy.key);
    const fromFile = ['call', '--url', proxy.url, '--key-file', 'key'];
    expect(await runProgram(fromFile, { folder, env: wrong, input: print() })).toEqual(called);
    const named = await runProgram(['call', '--key=x'], { folder, env: { ERP_PROXY_URL: 'nowhere' } });
    expect(named).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^ERP_PROXY_URL "nowhere" is not/),
    });
  });

  test('other commands ignore the environment variables of call', async () => {
    const env = { ERP_PROXY_URL: 'http://127.0.0.1:1', ERP_PROXY_KEY: 'ep_x_y' };
    expect((await runProgram(['config', 'check'], { folder, env })).status).toBe(0);
    expect((await runProgram(['keys', 'create', '--name=shop'], { folder, env })).status).toBe(0);
    expect((await runProgram(['keys', 'list'], { folder, env })).stdout).toMatch(/shop\n$/);
    const server = await startServer([], { folder, env });
    server.kill('SIGTERM');
    expect((await server.ended).status).toBe(0);
  });

  test('exits with 1 if the answer is an error, and prints it', async () => {
    const refused = await run(['call', '--url', proxy.url, '--key', 'ep_bad'], print());
    expect(refused.status).toBe(1);
    expect(refused.stderr).toBe('');
    expect(JSON.parse(refused.stdout).error.code).toBe(-32000);
    const failed = await run(
      ['call', '--url', proxy.url, '--key', proxy.key],
      print({ model_id: 'no.model' }),
    );
    expect(failed.status).toBe(1);
    expect(JSON.parse(failed.stdout).error.data.type).toBe('model_not_found');
  });

  test('says that the address is not one of a proxy, and prints what it answers', async () => {
    const { status, stdout, stderr } = await run(['call', '--url', sandbox.url, '--key', 'x'], print());
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `${sandbox.url} does not answer as an erp-proxy; check --url.\n`,
    });
    expect(stdout).toContain('404');
  });

  test('reports a wrong usage in one line', async () => {
    const cases: [string[], RegExp, number][] = [
      [['call', 'missing.json', '--key', 'x'], /^missing\.json: there is no such file\n$/, 2],
      [['call', '--key-file', 'missing'], /^missing: there is no such file\n$/, 2],
      [['call', '--key', 'secret\r\nx: y'], /^This is not the text of a client key/, 2],
      [['call', '--key', 'x', '--timeout', 'soon'], /whole number of seconds/, 2],
      [['call'], /--key-file or --key/, 2],
      [['call', '--key', 'x', '--url', 'nowhere'], /not the address of a proxy/, 2],
      [['call', '--key', 'x', '--url', 'http://127.0.0.1:1'], /is the proxy running there/, 1],
    ];
    const all = await Promise.all(cases.map(([args]) => run(args)));
    for (const [index, [args, says, status]] of cases.entries()) {
      expect(all[index], args.join(' ')).toEqual({ status, stdout: '', stderr: expect.stringMatching(says) });
      expect(all[index]?.stderr.trim().split('\n')).toHaveLength(1);
      expect(all[index]?.stderr).not.toContain('secret');
    }
  });
});

test('config check exits with 0 or reports every error; config print masks secrets', async () => {
  const secret = 'a-hash-secret-of-thirty-two-characters';
  const good = await runProgram(['config', 'check'], { folder, env: { ERP_PROXY_KEYS_HASH_SECRET: secret } });
  expect(good).toEqual({ status: 0, stdout: 'The settings are right.\n', stderr: '' });
  const bad = await run(['config', 'check', '--egress.allow=http://user:password@host,10.0.0.0/99']);
  expect(bad.status).toBe(2);
  expect(bad.stderr.trim().split('\n')).toHaveLength(2);
  expect(bad.stderr).not.toContain('password');
  const printed = await runProgram(['config', 'print', '--json'], {
    folder,
    env: { ERP_PROXY_KEYS_HASH_SECRET: secret },
  });
  expect(printed.status).toBe(0);
  expect(printed.stdout).toContain('keys.hashSecret');
  expect(printed.stdout).not.toContain(secret);
});

test('ends silently if its output is not read', async () => {
  const program = startProgram(['--help'], { folder });
  program.stopReading();
  const { stderr } = await program.ended;
  expect(stderr).toBe('');
});
