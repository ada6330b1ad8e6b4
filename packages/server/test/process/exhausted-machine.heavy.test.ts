/**
 * Tests the egress dispatcher on a machine that lacks a resource for a connection. When the resource is available
 * again, it must work without a restart.
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { listenOnFreePort } from '../listen.ts';
import { makeFolder } from './program.ts';

const EGRESS = import.meta.resolve('@erp-proxy/egress');
const EGRESS_POLICY = import.meta.resolve('@erp-proxy/egress/policy');
/** Code that prints the outcomes of requests as JSON. */
const COMMON = `
  import { closeSync, openSync } from 'node:fs';
  import { connect, createServer } from 'node:net';
  import { createEgressDispatcher } from '${EGRESS}';
  import { parseEgressPolicy } from '${EGRESS_POLICY}';
  const outcomes = [];
  async function ask(dispatcher, origin) {
    const request = { method: 'GET', origin, path: '/', headers: {}, body: null };
    const answer = await dispatcher.send(request, { signal: new AbortController().signal });
    outcomes.push(answer.ok ? answer.status : [answer.reason, answer.sent]);
  }
  const open = (resolve) => createEgressDispatcher({
    allow: parseEgressPolicy(['127.0.0.1', 'localhost']).policy, connectTimeoutMs: 20000, firstByteTimeoutMs: null, resolve,
  });
`;
const END = 'console.log(JSON.stringify(outcomes)); process.exit();';

async function run(command: string, script: string, env: Record<string, string> = {}): Promise<unknown> {
  const child = spawn(
    'sh',
    ['-c', `${command} "$0" --input-type=module -e "$1"`, process.execPath, COMMON + script + END],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  for await (const part of child.stdout) text += part;
  return JSON.parse(text);
}

test('the certificates of the system are read once there is a file descriptor for them', async () => {
  const file = join(makeFolder(), 'authorities.pem');
  writeFileSync(file, TEST_CERTIFICATE);
  const server = createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (_request, response) =>
    response.end(),
  );
  closeAfterTest(server);
  const origin = `https://localhost:${await listenOnFreePort(server)}`;
  const script = `
    const dispatcher = open(async () => ['127.0.0.1']);
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch {}
    closeSync(taken.pop());
    await ask(dispatcher, '${origin}');
    for (const file of taken) closeSync(file);
    await ask(dispatcher, '${origin}');
  `;
  const env = { SSL_CERT_FILE: file, SSL_CERT_DIR: '/proc/none' };
  expect(await run('ulimit -n 256; exec', script, env)).toEqual([['exhausted', false], 200]);
});

/** `unshare` is part of util-linux, but a container may forbid it. */
const canUnshare = spawnSync('unshare', ['-rn', 'true']).status === 0;

test.runIf(canUnshare)('without a free local port, the server is not to blame', async () => {
  const script = `
    const server = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n'));
    }).listen(8080, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const holder = connect(8080, '127.0.0.1');
    await new Promise((resolve) => holder.once('connect', resolve));
    const dispatcher = open();
    await ask(dispatcher, 'http://127.0.0.1:8080');
    await ask(dispatcher, 'http://127.0.0.1:8081');
    holder.resetAndDestroy();
    await new Promise((resolve) => holder.once('close', resolve));
    await ask(dispatcher, 'http://127.0.0.1:8080');
  `;
  const namespace = 'ip link set lo up; echo 50000 50000 > /proc/sys/net/ipv4/ip_local_port_range; exec';
  expect(await run(`unshare -rn sh -c '${namespace} "$0" "$@"'`, script)).toEqual([
    ['exhausted', false],
    ['refused', false],
    200,
  ]);
});
