/** Tests `workers`: several processes on one port that start, stop and fail, and have common metrics. */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { IS_LONG } from '../random-cases.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type Script,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import { startCollector } from '../traces/collector.ts';
import {
  callServer,
  HAS_TERMINAL,
  KEY,
  listChildren,
  makeFolder,
  makeKey,
  type Program,
  printLine,
  runProgram,
  type Server,
  startOnTerminal,
  startProgram,
  startServer,
  startShell,
} from './program.ts';

/**
 * Number of workers in tests where one worker differs from the others. Each further worker is another process to start.
 */
const COUNT = 2;
/** Number of workers in tests where several other workers must show the same behavior. */
const MANY = 3;
/** Matches the log once this number of workers listen. */
const listening = (count: number) => new RegExp(`(?:"msg":"listening"[^]*){${count}}`);
/** Longer than a second, the interval at which the primary and its workers exchange heartbeats. */
const LONGER_THAN_A_HEARTBEAT_MS = 1500;
/** A second signal within 300 ms is taken for an echo of the first one. */
const LONGER_THAN_ECHOES_MS = 500;

let folder: string;
let upstream: ScriptedUpstream;
let script: Script;
beforeEach(async () => {
  folder = makeFolder();
  script = (socket) => answerLikeOdoo(socket, printResult('7'));
  upstream = await startUpstream((...args) => script(...args));
});
afterEach(() => upstream.close());

/** Resolves when all workers listen. */
async function start(args: readonly string[] = [], count = COUNT): Promise<Server> {
  const settings = [`--egress.allow=${upstream.url}`, `--workers=${count}`, ...args];
  const server = await startServer(settings, { folder });
  await server.waitFor(listening(count));
  return server;
}

const call = (server: Server, key: string, changes = {}) =>
  callServer(server, key, makeCall(upstream.url, changes));

/** Lines of the log with this message. */
function readLog({ stdout }: Program, message: string): Record<string, unknown>[] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message);
}

const listWorkers = ({ pid }: Program): number[] => listChildren(pid);

/** False for a child that is only a copy of the primary so far. The primary is blocked until it executes Node. */
function isExecuted(pid: number): boolean {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').includes('NODE_CHANNEL_FD=');
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('workers share a free port, a scrape has the numbers of all, and each refuses a revoked key', async () => {
  const server = await start([], MANY);
  const key = await makeKey(server);
  for (let count = 0; count < 2 * MANY; count++) expect((await call(server, key)).status).toBe(200);
  await expect
    .poll(() => new Set(readLog(server, 'call').map(({ worker }) => worker)))
    .toEqual(new Set([1, 2, 3]));
  expect(new Set(readLog(server, 'listening').map(({ url }) => url))).toEqual(new Set([server.url]));
  expect(readLog(server, 'no client key')).toHaveLength(1);

  for (let scrape = 0; scrape < MANY; scrape++) {
    const text = (await send(`${server.url}/metrics`)).body.toString();
    expect(text).toMatch(new RegExp(`^erp_proxy_calls_total\\{.*outcome="ok".*\\} ${2 * MANY}$`, 'm'));
    expect(text).toMatch(new RegExp(`^erp_proxy_upstream_duration_seconds_count\\{.*\\} ${2 * MANY}$`, 'm'));
    expect(text, 'what is the same everywhere is not summed').toMatch(/^erp_proxy_store_up 1$/m);
  }

  const made = await runProgram(['keys', 'create', '--name=shop', '--json'], { folder });
  const shop = JSON.parse(made.stdout);
  // The primary passes the connections to its workers in turn.
  const callEach = async () => {
    const statuses: number[] = [];
    for (let worker = 0; worker < MANY; worker++) statuses.push((await call(server, shop.key)).status);
    return statuses;
  };
  expect(await callEach()).toEqual(Array(MANY).fill(200));
  await runProgram(['keys', 'revoke', shop.id], { folder });
  await expect.poll(callEach).toEqual(Array(MANY).fill(401));
  expect((await call(server, key)).status).toBe(200);
});

test.runIf(HAS_TERMINAL)('the first key is printed once on a terminal', async () => {
  const args = ['serve', '--http.port=0', `--workers=${COUNT}`];
  const program = startOnTerminal(printLine(args), { folder });
  await expect.poll(() => program.stdout.match(/"msg":"listening"/g)).toHaveLength(COUNT);
  expect(program.stdout.match(new RegExp(KEY, 'g'))).toHaveLength(1);
  program.kill('SIGTERM');
  expect((await program.ended).status).toBe(0);
});

test('a worker that dies is replaced after a delay that doubles, and calls are served meanwhile', async () => {
  const server = await start();
  const key = await makeKey(server);
  const primary = new Set(listWorkers(server));
  for (const [index, pauseMs] of [100, 200].entries()) {
    // The newest worker replaced the previous victim.
    const victim = Math.max(...listWorkers(server));
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => readLog(server, 'worker ended')).toHaveLength(index + 1);
    expect(readLog(server, 'worker ended')[index]).toMatchObject({ pid: victim, signal: 'SIGKILL', pauseMs });
    expect((await call(server, key)).status).toBe(200);
    await expect.poll(() => readLog(server, 'listening')).toHaveLength(COUNT + index + 1);
  }
  expect(listWorkers(server)).toHaveLength(COUNT);
  expect(listWorkers(server).filter((pid) => primary.has(pid))).toHaveLength(COUNT - 1);
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
});

test('a worker that is replaced has the settings of the others, whatever the settings file has by now', async () => {
  writeFileSync(join(folder, 'erp-proxy.yaml'), `workers: ${COUNT}\n`);
  const server = await startServer([`--egress.allow=${upstream.url}`], { folder });
  await server.waitFor(listening(COUNT));
  const key = await makeKey(server);
  for (const [index, text] of ['workers: 1\nhttp: { port: 1 }\n', 'htp:\n'].entries()) {
    writeFileSync(join(folder, 'erp-proxy.yaml'), text);
    process.kill(Math.max(...listWorkers(server)), 'SIGKILL');
    await expect.poll(() => readLog(server, 'listening')).toHaveLength(3 + index);
  }
  expect(readLog(server, 'listening').map(({ worker, url }) => [worker, url])).toEqual(
    [1, 2, 3, 4].map((worker) => [worker, server.url]),
  );
  for (let count = 0; count < 4; count++) expect((await call(server, key)).status).toBe(200);
  server.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ status: 0, stderr: '' });
});

test('a worker that is killed while the primary is suspended is replaced', async () => {
  const server = await start();
  const key = await makeKey(server);
  process.kill(server.pid, 'SIGSTOP');
  const victim = Math.max(...listWorkers(server));
  process.kill(victim, 'SIGKILL');
  await expect.poll(() => isRunning(victim)).toBe(false);
  // Waits until the next heartbeat is due before the primary learns that the worker has ended.
  await pause(LONGER_THAN_A_HEARTBEAT_MS);
  process.kill(server.pid, 'SIGCONT');
  await expect.poll(() => readLog(server, 'worker ended')).toMatchObject([{ pid: victim }]);
  await expect.poll(() => readLog(server, 'listening')).toHaveLength(COUNT + 1);
  expect((await call(server, key)).status).toBe(200);
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
});

test('no connection stays open without an answer while one worker stops and another listens', async () => {
  const server = await startServer(['--workers=2'], { folder });
  await expect.poll(() => readLog(server, 'listening')).toHaveLength(2);
  const { hostname, port } = new URL(server.url);
  let isOver = false;
  const connectAgainAndAgain = async () => {
    while (!isOver) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      socket.resume().write('GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      await new Promise((resolve) => socket.once('close', resolve));
      // The connection was closed before its request was read.
      if (socket.bytesRead === 0) await pause();
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, connectAgainAndAgain));
  for (const listening of [3, 4]) {
    process.kill(Math.min(...listWorkers(server)), 'SIGTERM');
    await expect.poll(() => readLog(server, 'listening')).toHaveLength(listening);
  }
  isOver = true;
  await clients;
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
});

// This test takes thirty heartbeats. workers-heartbeat.test.ts counts them with a clock of its own.
test.runIf(IS_LONG)('a worker that hangs before it listens is replaced', async () => {
  // The tables are made before, because a worker that hangs while it makes them would keep the other worker waiting.
  await runProgram(['migrate'], { folder });
  const server = startProgram(['serve', '--http.port=0', '--workers=2'], { folder });
  await expect.poll(() => listWorkers(server).filter(isExecuted)).toHaveLength(2);
  const hung = listWorkers(server)[1] as number;
  process.kill(hung, 'SIGSTOP');
  try {
    await server.waitFor(/"msg":"listening"/);
    expect(readLog(server, 'listening')).toHaveLength(1);
    // The primary logs this after thirty heartbeats without an answer.
    await server.waitFor(/"msg":"worker hung"/);
    expect(readLog(server, 'worker hung')).toMatchObject([{ pid: hung }]);
    await expect.poll(() => readLog(server, 'listening')).toHaveLength(2);
  } finally {
    if (isRunning(hung)) process.kill(hung, 'SIGKILL');
  }
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
});

describe('a worker that hangs', () => {
  let server: Server;
  let key: string;
  let hung: number;
  beforeEach(async () => {
    server = await start([], MANY);
    key = await makeKey(server);
    hung = listWorkers(server)[1] as number;
    process.kill(hung, 'SIGSTOP');
  });
  // A suspended worker would survive a primary that is killed.
  afterEach(() => {
    if (isRunning(hung)) process.kill(hung, 'SIGKILL');
  });

  test('is left out of a scrape, then replaced, and others serve its calls', async () => {
    await expectScrapeWithoutIt();
    const calls = Array.from({ length: 2 * MANY }, (_, id) => call(server, key, { params: [[id]] }));
    await expect.poll(() => readLog(server, 'worker hung')).toMatchObject([{ pid: hung }]);
    await expect.poll(() => isRunning(hung)).toBe(false);
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    await expect.poll(() => readLog(server, 'listening')).toHaveLength(MANY + 1);
    for (let count = 0; count < 2 * MANY; count++) expect((await call(server, key)).status).toBe(200);
    server.kill('SIGTERM');
    expect((await server.ended).status).toBe(0);
  });

  async function expectScrapeWithoutIt(): Promise<void> {
    // One connection goes to the hung worker, the following ones go to the other workers.
    let answers = 0;
    const ask = () =>
      send(`${server.url}/healthz`).then(
        () => answers++,
        () => {},
      );
    for (let count = 0; count < MANY; count++) void ask();
    await expect.poll(() => answers).toBe(MANY - 1);
    // On a busy machine, other workers too may not answer within the half second for which a scrape waits.
    let text = '';
    const scrape = async () => {
      text = (await send(`${server.url}/metrics`)).body.toString();
      return text;
    };
    await expect.poll(scrape).toMatch(/^erp_proxy_workers\{state="answering"\} 2$/m);
    // The scrape did not wait until the silent worker was killed.
    expect(readLog(server, 'worker hung')).toEqual([]);
    expect(text).toMatch(/^erp_proxy_workers\{state="silent"\} 1$/m);
    expect(text).toMatch(/^erp_proxy_build_info\{.*\} 1$/m);
  }

  test('does not prevent the program from ending', async () => {
    server.kill('SIGTERM');
    // The primary kills the hung worker, so the exit is not clean.
    expect((await server.ended).status).toBe(1);
    expect(isRunning(hung)).toBe(false);
  });
});

test.each([
  ['SIGTERM to the program', ({ pid }: Server) => process.kill(pid, 'SIGTERM')],
  [
    'Ctrl-C, which the terminal sends to every process',
    (server: Server) => {
      for (const pid of [server.pid, ...listWorkers(server)]) process.kill(pid, 'SIGINT');
    },
  ],
])('at %s the running calls of all workers complete, and the exit status is 0', async (_how, stop) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  script = async (socket) => {
    await released;
    answerLikeOdoo(socket, printResult('"late"'));
  };
  const server = await start([], MANY);
  const key = await makeKey(server);
  const running = Array.from({ length: MANY }, () => call(server, key));
  await expect.poll(() => upstream.requests.length).toBe(running.length);
  stop(server);
  await expect.poll(() => readLog(server, 'stopping')).toHaveLength(MANY);
  expect((await call(server, key)).status).toBe(503);
  release();
  for (const answer of await Promise.all(running)) {
    expect(answer.body.toString()).toBe('{"jsonrpc":"2.0","id":1,"result":"late"}');
  }
  const { status, stderr } = await server.ended;
  expect([status, stderr]).toEqual([0, '']);
  expect(new Set(readLog(server, 'call').map(({ worker }) => worker)).size).toBe(MANY);
});

test('ends at once at a second signal, and no worker remains', async () => {
  script = () => {};
  const server = await start();
  const workers = listWorkers(server);
  const key = await makeKey(server);
  const running = Array.from({ length: COUNT }, () => call(server, key).catch(() => 'broken off'));
  await expect.poll(() => upstream.requests.length).toBe(COUNT);
  server.kill('SIGTERM');
  await expect.poll(() => readLog(server, 'stopping')).toHaveLength(COUNT);
  await pause(LONGER_THAN_ECHOES_MS);
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(1);
  expect(await Promise.all(running)).toEqual(Array(COUNT).fill('broken off'));
  await expect.poll(() => workers.filter(isRunning)).toEqual([]);
});

test('all workers together have no more calls at once at a database than one process may', async () => {
  const server = await start([
    '--upstream.concurrency=6',
    '--upstream.concurrencyMin=6',
    '--upstream.protocol=jsonrpc',
  ]);
  const key = await makeKey(server);
  // Metrics include a database only after it has answered.
  for (let worker = 0; worker < COUNT; worker++) expect((await call(server, key)).status).toBe(200);
  const held: (() => void)[] = [];
  script = (socket) => void held.push(() => answerLikeOdoo(socket, printResult('7')));
  // The reads differ, because equal reads would share one call.
  const calls = Array.from({ length: 10 * COUNT }, (_, id) => call(server, key, { params: [[id]] }));
  const countWaiting = async () => {
    const text = (await send(`${server.url}/metrics`)).body.toString();
    return Number(/^erp_proxy_upstream_waiting\{.*\} (\d+)$/m.exec(text)?.[1]);
  };
  await expect.poll(countWaiting).toBe(calls.length - 6);
  // A process counts a call before its connection has arrived.
  await expect.poll(() => held.length).toBe(6);
  expect(upstream.sockets.size).toBe(6);
  script = (socket) => answerLikeOdoo(socket, printResult('7'));
  for (const release of held) release();
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
});

test('no worker remains if the primary is killed', async () => {
  const server = await start();
  const workers = listWorkers(server);
  server.kill('SIGKILL');
  await expect.poll(() => workers.filter(isRunning)).toEqual([]);
});

test('continues to serve after the reader of the log is gone', async () => {
  const server = await start();
  const key = await makeKey(server);
  server.stopReading();
  for (let count = 0; count < 4 * COUNT; count++) expect((await call(server, key)).status).toBe(200);
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
});

test('workers write whole lines to the same file', async () => {
  const file = join(folder, 'proxy.log');
  const settings = [`--egress.allow=${upstream.url}`, `--workers=${COUNT}`, '--http.port=0'];
  const program = startShell(`${printLine(['serve', ...settings])} >proxy.log`, { folder });
  const readLines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const parse = (line: string) => JSON.parse(line) as { msg: string; url?: string; worker?: number };
  await expect.poll(() => readLines().filter((line) => line.includes('"listening"'))).toHaveLength(COUNT);
  const { url = '' } =
    readLines()
      .map(parse)
      .find(({ msg }) => msg === 'listening') ?? {};
  const server: Server = Object.assign(program, { url, settings, options: { folder } });
  const key = await makeKey(server);
  for (let round = 0; round < 10; round++) {
    // Long lines of log, from several workers at once.
    const id = 'x'.repeat(200);
    const calls = Array.from({ length: 30 }, () => call(server, key, { id }));
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
  }
  program.kill('SIGTERM');
  await program.ended;
  const lines = readLines()
    .map(parse)
    .filter(({ msg }) => msg === 'call');
  expect(lines).toHaveLength(300);
  expect(new Set(lines.map(({ worker }) => worker)).size).toBe(COUNT);
});

test('each worker exports its spans, and a stop exports those that wait', async () => {
  const collector = await startCollector();
  try {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
    const server = await startServer([`--egress.allow=${upstream.url}`, `--workers=${COUNT}`], {
      folder,
      env,
    });
    await server.waitFor(listening(COUNT));
    const key = await makeKey(server);
    for (let count = 0; count < 4 * COUNT; count++) expect((await call(server, key)).status).toBe(200);
    server.kill('SIGTERM');
    expect((await server.ended).status).toBe(0);
    expect(collector.spans.filter(({ kind }) => kind === 2)).toHaveLength(4 * COUNT);
    expect(collector.processes.size).toBe(COUNT);
  } finally {
    await collector.close();
  }
});

test('reports once that the port is taken, and exits with 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as { port: number };
  const { status, stdout, stderr } = await runProgram(
    ['serve', `--http.port=${port}`, `--workers=${COUNT}`],
    { folder },
  );
  other.close();
  expect(status).toBe(1);
  expect(stderr).toBe(
    `Port ${port} on 127.0.0.1 is taken; end what uses it, or choose another with --http.port.\n`,
  );
  expect(stdout).toBe('');
});

test('refuses a store in memory, because workers cannot share it', async () => {
  const { status, stdout, stderr } = await runProgram(['serve', '--store.url=memory:', '--workers=2'], {
    folder,
  });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^workers is 2, and store\.url is memory:, .*; set .*\n$/);
  expect(stdout).toBe('');
});

test('ends cleanly if it is stopped before its workers listen', async () => {
  const server = await startServer([`--workers=${COUNT}`], { folder });
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
});
