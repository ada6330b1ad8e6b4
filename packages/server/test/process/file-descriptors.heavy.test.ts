/** Tests the program with few file descriptors. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { expectToStay } from '../time.ts';
import { ENTRY, KEY, makeFolder, type Program, startProgram, startShell } from './program.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** `prlimit` is part of util-linux, which Debian always has. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;
/** More calls than the failures after which a circuit breaker opens. */
const CALLS = 12;
/** A program checks twice a second whether the program that started it still runs. */
const SEVERAL_CHECKS_MS = 1500;

let sandbox: Sandbox;
const sockets: Socket[] = [];
beforeEach(async () => {
  sandbox = await startSandbox();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await sandbox.close();
});

interface Started {
  program: Program;
  url: string;
  key: string;
}

async function start(command: string): Promise<Started> {
  const folder = makeFolder();
  const env = {
    ERP_PROXY_STORE_URL: `sqlite:${join(folder, 'keys.db')}`,
    ERP_PROXY_HTTP_PORT: '0',
    ERP_PROXY_EGRESS_ALLOW: `${sandbox.url},${nameSandbox()}`,
  };
  const created = await startProgram(['keys', 'create', '--name', 'a', '--json'], { folder, env }).ended;
  const [key = ''] = KEY.exec(created.stdout) ?? [];
  const program = startShell(command, { folder: root, env });
  const [, url = ''] = await program.waitFor(/"url":"(http:[^"]+)"/);
  return { program, url, key };
}

/** The address of the sandbox with a name, which must be resolved. */
function nameSandbox(): string {
  return sandbox.url.replace('127.0.0.1', 'localhost');
}

/** Opens connections, and resolves when each is open or closed again. */
async function openConnections(url: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const opened = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => {}));
  sockets.push(...opened);
  await expect.poll(() => opened.filter(({ connecting }) => connecting).length).toBe(0);
  return opened;
}

/** Sends a request on an open connection. Resolves to the answer, which must be short. */
async function sendOn(socket: Socket, line: string, headers = '', body = ''): Promise<string> {
  let answer = '';
  const take = (bytes: Buffer) => {
    answer += bytes;
  };
  socket.on('data', take);
  const length = `content-length: ${body.length}\r\n`;
  socket.write(`${line} HTTP/1.1\r\nhost: a\r\n${headers}${length}\r\n${body}`);
  await expect.poll(() => answer).toMatch(/\r\n\r\n.*\}$/s);
  socket.off('data', take);
  return answer;
}

function callOn(socket: Socket, { key }: Started, id: number, url = sandbox.url): Promise<string> {
  const { userId, apiKey } = sandbox.users.admin;
  const body = JSON.stringify({
    id,
    action: 'read',
    model_id: 'res.partner',
    params: [[id]],
    keyword: { fields: ['name'] },
    erp_instance: { url, db: 'sandbox', user_id: userId, api_key: apiKey },
  });
  const headers = `x-proxy-api: ${key}\r\ncontent-type: application/json\r\n`;
  return sendOn(socket, 'POST /api/erp/execute', headers, body);
}

/** Limits the open files of a running process. With 1, the process can open nothing more. */
function limitFiles(pid: number, files: number): void {
  const { stderr } = spawnSync('prlimit', ['--pid', `${pid}`, `--nofile=${files}:`]);
  expect(stderr.toString()).toBe('');
}

/** The last process of the chain that this process has started. */
function findServer(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '),
  );
  const child = children.find((text) => text !== '');
  return child === undefined ? pid : findServer(Number(child));
}

describe.runIf(canLimit)('with few file descriptors', () => {
  test.each(['', '--workers 2'])(
    'clients beyond a limit are refused, and the others are served: serve %s',
    async (options) => {
      const started = await start(`exec prlimit --nofile=100 ${process.execPath} ${ENTRY} serve ${options}`);
      const [first, ...others] = await openConnections(started.url, 20);
      await openConnections(started.url, 200);
      await started.program.waitFor(/"refused":\d+,.*"msg":"connections refused"/);
      expect(others.filter(({ destroyed }) => destroyed)).toEqual([]);
      const health = await sendOn(first as Socket, 'GET /readyz');
      expect(health).toMatch(/"degraded".*client connections above \d+ are refused/);
      for (const [index, socket] of others.entries()) {
        expect(await callOn(socket, started, index + 1)).toContain('HTTP/1.1 200 ');
      }
    },
  );

  test.each([
    ['by address', () => sandbox.url],
    ['by name', nameSandbox],
  ])('a call that gets no connection is a fault of the proxy, not of Odoo: %s', async (_title, find) => {
    const url = find();
    const started = await start(`exec ${process.execPath} ${ENTRY} serve`);
    const [socket] = (await openConnections(started.url, 1)) as [Socket];
    limitFiles(started.program.pid, 1);
    for (let id = 1; id <= CALLS; id++) {
      const answer = await callOn(socket, started, id, url);
      expect(answer).toContain('HTTP/1.1 503 ');
      expect(answer).toContain('"type":"overloaded","retryable":true,"outcome":"not_sent"');
      expect(answer).toMatch(/\r\nretry-after: 1\r\n/i);
    }
    limitFiles(started.program.pid, 1024);
    expect(await callOn(socket, started, 1, url)).toContain('HTTP/1.1 200 ');
  });

  test('a program that npm has started does not stop', async () => {
    const { program, url } = await start(
      `exec npm exec --offline -c 'exec ${process.execPath} ${ENTRY} serve'`,
    );
    const pid = findServer(program.pid);
    limitFiles(pid, 1);
    const isStopping = () => program.stdout.includes('"msg":"stopping"');
    await expectToStay(isStopping, false, SEVERAL_CHECKS_MS);
    limitFiles(pid, 1024);
    expect((await send(`${url}/healthz`)).status).toBe(200);
    expect(isStopping()).toBe(false);
  });
});
