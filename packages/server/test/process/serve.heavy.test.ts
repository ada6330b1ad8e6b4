/** Tests the running program: its first key, its signals, its end and its restart. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type Script,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { expectToStay, measureMs, pause } from '../time.ts';
import {
  callServer,
  HAS_TERMINAL,
  KEY,
  makeFolder,
  makeKey,
  type Program,
  printLine,
  runProgram,
  type Server,
  startOnTerminal,
  startProgram,
  startServer,
} from './program.ts';

/** A second signal within 300 ms counts as an echo of the first signal. */
const LONGER_THAN_ECHOES_MS = 500;
/** The driver of Redis gives a connection this time to close, unless the program sets another time. */
const DRIVER_CLOSES_MS = 2000;

let folder: string;
let upstream: ScriptedUpstream;
let script: Script;
beforeEach(async () => {
  folder = makeFolder();
  script = (socket) => answerLikeOdoo(socket, printResult('7'));
  upstream = await startUpstream((...args) => script(...args));
});
afterEach(() => upstream.close());

const start = (...args: string[]) => startServer([`--egress.allow=${upstream.url}`, ...args], { folder });

const call = (server: Server, key: string, body: object = makeCall(upstream.url)) =>
  callServer(server, key, body);

async function stop(program: Program): Promise<void> {
  program.kill('SIGTERM');
  expect((await program.ended).status).toBe(0);
}

test.runIf(HAS_TERMINAL)('prints the first key on a terminal at the first start only', async () => {
  const serve = () =>
    startOnTerminal(printLine(['serve', '--http.port=0', `--egress.allow=${upstream.url}`]), { folder });
  const listen = async (program: Program) => {
    const [, url] = await program.waitFor(/"url":"(http:[^"]+)"/);
    return { ...program, url } as Server;
  };
  const first = serve();
  const [key] = await first.waitFor(KEY);
  expect((await call(await listen(first), key)).status).toBe(200);
  await stop(first);
  expect(first.stdout.match(new RegExp(KEY, 'g'))).toHaveLength(1);
  const second = serve();
  expect((await call(await listen(second), key)).body.toString()).toBe('{"jsonrpc":"2.0","id":1,"result":7}');
  await stop(second);
  expect(second.stdout).not.toMatch(KEY);
  expect(second.stdout).not.toContain('no client key');
  expect(readFileSync(join(folder, 'data/erp-proxy.db')).includes(key.slice(16, 40))).toBe(false);
  expect(statSync(join(folder, 'data/erp-proxy.db')).mode & 0o077).toBe(0);
});

test.runIf(HAS_TERMINAL)(
  'only one of several programs that start on terminals at the same moment prints the first key',
  async () => {
    const programs = [1, 2, 3].map(() => startOnTerminal(printLine(['serve', '--http.port=0']), { folder }));
    await Promise.all(programs.map((program) => program.waitFor(/listening/)));
    expect(programs.flatMap(({ stdout }) => stdout.match(new RegExp(KEY, 'g')) ?? [])).toHaveLength(1);
    for (const program of programs) program.kill('SIGTERM');
    await Promise.all(programs.map(({ ended }) => ended));
  },
);

test('without a terminal it creates no key, logs none, and explains how to create one', async () => {
  const server = await start();
  const { level, msg, advice } = JSON.parse((await server.waitFor(/.*no client key.*/))[0]);
  expect([level, msg]).toEqual(['warn', 'no client key']);
  expect(advice).toContain('`erp-proxy keys create --name <who will use it>`');
  expect(advice).toContain('docker exec');
  // The command uses this store in whatever folder it is started.
  expect(advice).toContain(`\`--store.url sqlite:${realpathSync(folder)}/data/erp-proxy.db\``);
  expect((await runProgram(['keys', 'list', '--json'], { folder })).stdout).toBe('[]\n');
  const key = await makeKey(server);
  expect((await call(server, key)).status).toBe(200);
  await stop(server);
  const again = await start();
  await stop(again);
  expect(again.stdout).not.toContain('no client key');
  expect(server.stdout + server.stderr + again.stdout + again.stderr).not.toMatch(KEY);
});

test('without a terminal it names the secrets that are missing before it listens', async () => {
  const [server, half, whole] = [
    await start(),
    await start('--admin.token=a-token-of-more-than-thirty-two-characters'),
    await start(
      '--admin.token=a-token-of-more-than-thirty-two-characters',
      `--vault.masterKey=${Buffer.alloc(32, 7).toString('base64')}`,
    ),
  ];
  const readMissing = (stdout: string) =>
    stdout
      .split('\n')
      .filter((line) => /secrets are not set|listening/.test(line))
      .map((line) => JSON.parse(line));
  expect(readMissing(server.stdout)).toMatchObject([
    {
      missing: ['admin.token', 'vault.masterKey'],
      advice: expect.stringMatching(/ERP_PROXY_ADMIN_TOKEN_FILE.*ERP_PROXY_VAULT_MASTER_KEY_FILE/),
    },
    { msg: 'listening' },
  ]);
  expect(readMissing(half.stdout)).toMatchObject([{ missing: ['vault.masterKey'] }, { msg: 'listening' }]);
  expect(readMissing(whole.stdout)).toMatchObject([{ msg: 'listening' }]);
  for (const started of [server, half, whole]) await stop(started);
});

test('explains how to create a key if keys are in memory', async () => {
  const server = await start('--store.url=memory:');
  const [line] = await server.waitFor(/.*no client key.*/);
  expect(JSON.parse(line).advice).toContain('POST /admin/v1/keys');
  await stop(server);
});

test('keys survive kill -9', async () => {
  const first = await start();
  const key = await makeKey(first);
  await call(first, key);
  first.kill('SIGKILL');
  await first.ended;
  const second = await start();
  expect((await call(second, key)).status).toBe(200);
  expect(second.stdout).not.toMatch(KEY);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'at %s the running call completes, a new one is refused, and the exit status is 0',
  async (signal) => {
    const gate = Promise.withResolvers<void>();
    script = async (socket) => {
      await gate.promise;
      answerLikeOdoo(socket, printResult('"late"'));
    };
    const server = await start();
    const key = await makeKey(server);
    const running = call(server, key);
    await expect.poll(() => upstream.requests.length).toBe(1);
    server.kill(signal);
    await server.waitFor(/stopping/);
    const refused = await call(server, key);
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    gate.resolve();
    expect((await running).body.toString()).toBe('{"jsonrpc":"2.0","id":1,"result":"late"}');
    expect((await server.ended).status).toBe(0);
    expect(server.stderr).toBe('');
  },
);

test.each([[], ['--workers=2']])(
  'SIGUSR1 and SIGUSR2 neither end it nor open a debugger: serve %s',
  async (...args) => {
    const server = await start(...args);
    const key = await makeKey(server);
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) server.kill(signal);
    await expectToStay(() => server.stderr, '');
    expect((await call(server, key)).status).toBe(200);
    expect(server.stderr).toBe('');
  },
);

test('ends at once at a second signal, but not at a repetition of the first', async () => {
  script = () => {};
  const server = await start();
  const running = call(server, await makeKey(server)).catch(() => 'broken off');
  await expect.poll(() => upstream.requests.length).toBe(1);
  server.kill('SIGINT');
  server.kill('SIGINT');
  await server.waitFor(/stopping/);
  await pause(LONGER_THAN_ECHOES_MS);
  expect((await send(`${server.url}/healthz`)).status).toBe(200);
  server.kill('SIGINT');
  expect((await server.ended).status).toBe(1);
  expect(await running).toBe('broken off');
});

test('reports a port that is taken, and exits with 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as { port: number };
  const { status, stdout, stderr } = await runProgram(['serve', `--http.port=${port}`], { folder });
  other.close();
  expect(status).toBe(1);
  expect(stderr).toBe(
    `Port ${port} on 127.0.0.1 is taken; end what uses it, or choose another with --http.port.\n`,
  );
  expect(stdout, 'a key that nobody can use').toBe('');
});

test('reports all wrong settings at once, exits with 2, and starts nothing', async () => {
  const { status, stdout, stderr } = await runProgram(['serve', '--http.port=abc', '--htp.host=x'], {
    folder,
    env: { ERP_PROXY_LOG_LEVEL: 'loud', ERP_PROXY_KEYS_HASH_SECRET: 'short-and-secret' },
  });
  expect(status).toBe(2);
  expect(stdout).toBe('');
  for (const name of ['--http.port', '--htp.host', 'ERP_PROXY_LOG_LEVEL', 'ERP_PROXY_KEYS_HASH_SECRET']) {
    expect(stderr).toContain(`${name}: `);
  }
  expect(stderr).not.toContain('short-and-secret');
  expect(existsSync(join(folder, 'data'))).toBe(false);
});

test('reports an unusable store, and exits with 1', async () => {
  const { status, stderr } = await runProgram(
    ['serve', '--http.port=0', '--store.url=sqlite:/dev/null/x.db'],
    { folder },
  );
  expect(status).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('accepts and refuses keys that the command line creates and revokes', async () => {
  const server = await start();
  const first = await makeKey(server);
  const made = await runProgram(['keys', 'create', '--name=shop', '--json'], { folder });
  expect(made.status).toBe(0);
  const { id, key, name } = JSON.parse(made.stdout);
  expect(name).toBe('shop');
  expect((await call(server, key)).status).toBe(200);

  const listed = await runProgram(['keys', 'list', '--json'], { folder });
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { name: 'test', state: 'active' },
    { id, name: 'shop', state: 'active' },
  ]);
  expect(listed.stdout).not.toContain(key.slice(16));

  const revoked = await runProgram(['keys', 'revoke', id, '--json'], { folder });
  expect(JSON.parse(revoked.stdout)).toMatchObject({ id, state: 'revoked' });
  await expect.poll(async () => (await call(server, key)).status).toBe(401);
  expect((await call(server, first)).status).toBe(200);
  const unknown = await runProgram(['keys', 'revoke', 'nobody'], { folder });
  expect(unknown.status).toBe(1);
  expect(unknown.stderr).toContain('There is no key "nobody"');
});

test('continues to serve after the reader of its log is gone', async () => {
  const server = await start();
  const key = await makeKey(server);
  server.stopReading();
  for (let count = 0; count < 3; count++) expect((await call(server, key)).status).toBe(200);
  await stop(server);
});

test.each(['1', '2'])(
  'ends after it has stopped although its log is not read, with %s workers',
  async (workers) => {
    const server = await start(`--workers=${workers}`);
    const key = await makeKey(server);
    await server.waitFor(/"msg":"listening"/);
    server.pauseReading();
    const batch = Array.from({ length: 50 }, () => makeCall(upstream.url, { id: 'x'.repeat(200) }));
    // Writes a megabyte of log, more than the system buffers.
    for (let count = 0; count < 25; count++) expect((await call(server, key, batch)).status).toBe(200);
    server.kill('SIGTERM');
    await expect.poll(() => isRunning(server.pid)).toBe(false);
    server.resumeReading();
    expect((await server.ended).status).toBe(0);
  },
);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('ends cleanly if it is stopped when it begins to listen, or before', async () => {
  const options = { folder };
  const [soon, sooner] = [0, 1].map((index) =>
    startProgram(['serve', '--http.port=0', `--store.url=sqlite:${index}.db`], options),
  ) as [Program, Program];
  await sooner.waitFor(/no client key/);
  sooner.kill('SIGTERM');
  await soon.waitFor(/listening/);
  soon.kill('SIGTERM');
  expect([(await soon.ended).status, (await sooner.ended).status]).toEqual([0, 0]);
});

test('ends at once after "stopped" although Redis is away', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const { port } = free.address() as { port: number };
  free.close();
  const measureEnd = async () => {
    const server = await start(`--redis.url=redis://127.0.0.1:${port}`);
    await server.waitFor(/"msg":"listening"/);
    server.kill('SIGTERM');
    await server.waitFor(/"msg":"stopped"/);
    return await measureMs(async () => expect((await server.ended).status).toBe(0));
  };
  // Two of the times must be short: a busy machine can lengthen any of them.
  let quick = 0;
  for (let round = 0; round < 20 && quick < 2; round++) {
    const times = await Promise.all([measureEnd(), measureEnd()]);
    quick += times.filter((ms) => ms < DRIVER_CLOSES_MS / 2).length;
  }
  expect(quick).toBeGreaterThanOrEqual(2);
});
