/** Tests that changes which another process makes in a SQLite store apply to waiting calls. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HttpAnswer, send } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { callServer, makeFolder, runProgram, type Server, startServer } from './program.ts';

const ENV = { ERP_PROXY_VAULT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };

let folder: string;
let upstream: ScriptedUpstream;
let server: Server;
let letGo: () => void;
beforeEach(async () => {
  folder = makeFolder();
  letGo = () => {};
  upstream = await startUpstream((socket, { body }) => {
    const answer = () => answerLikeOdoo(socket, printResult('true'));
    if (body.includes('hold_turn')) letGo = answer;
    else answer();
  });
  const args = [
    `--egress.allow=${upstream.url}`,
    '--upstream.protocol=jsonrpc',
    '--upstream.concurrency=1',
    '--upstream.refusedCredentialsTtlMs=0',
  ];
  server = await startServer(args, { folder, env: ENV });
});
afterEach(async () => {
  server.kill('SIGKILL');
  await server.ended;
  await upstream.close();
});

const command = async (args: string[], input = '') => {
  const { status, stdout, stderr } = await runProgram([...args, '--json'], { folder, env: ENV, input });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
};

const sent = () =>
  upstream.requests.map(({ body }) => body.toString()).filter((body) => body.includes('unlink'));

async function readWaiting(): Promise<number> {
  const text = (await send(`${server.url}/metrics`)).body.toString();
  return Number(/^erp_proxy_upstream_waiting\{.*\} (\d+)$/m.exec(text)?.[1]);
}

/**
 * Makes a call that waits for its permit, lets another process make a change, and frees the permit once the change
 * applies to new calls.
 */
async function callDuring(
  key: string,
  changes: Record<string, unknown>,
  change: () => Promise<unknown>,
): Promise<HttpAnswer> {
  const holder = await command(['keys', 'create', '--name=holder']);
  // Metrics include a database only after it has answered.
  await callServer(server, holder.key, makeCall(upstream.url));
  void callServer(server, holder.key, makeCall(upstream.url, { action: 'hold_turn' }));
  await expect.poll(() => upstream.requests.some(({ body }) => body.includes('hold_turn'))).toBe(true);
  const body = makeCall(upstream.url, { action: 'unlink', ...changes });
  const waiting = callServer(server, key, body);
  await expect.poll(readWaiting).toBe(1);
  await change();
  await expect.poll(() => isRefusedAtOnce(key, body)).toBe(true);
  letGo();
  return waiting;
}

/** False if the call waits for a permit until its time is over, or comes to nothing on a busy machine. */
async function isRefusedAtOnce(key: string, body: object): Promise<boolean> {
  const { status } = await send(`${server.url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json', 'x-request-timeout': '1' },
    body: JSON.stringify(body),
  });
  return [400, 401, 403].includes(status);
}

test('a key that is revoked', async () => {
  const { id, key } = await command(['keys', 'create', '--name=app']);
  const { status } = await callDuring(key, {}, () => command(['keys', 'revoke', id]));
  expect(status).toBe(401);
  expect(sent()).toEqual([]);
});

test('a policy that is narrowed', async () => {
  const { id, key } = await command(['keys', 'create', '--name=app']);
  const policy = JSON.stringify({ origins: ['*'], models: { 'res.partner': ['read'] } });
  const { status } = await callDuring(key, {}, () => command(['keys', 'update', id, '--policy=-'], policy));
  expect(status).toBe(403);
  expect(sent()).toEqual([]);
});

test('an instance that is removed', async () => {
  const { key } = await command(['keys', 'create', '--name=app']);
  await command(
    [
      'instances',
      'add',
      'prod',
      `--erp-url=${upstream.url}`,
      '--db=prod',
      '--user-id=2',
      '--protocol=jsonrpc',
      '--api-key-file=-',
    ],
    'upstream-key-0123456789',
  );
  const { status } = await callDuring(key, { erp_instance: { name: 'prod' } }, () =>
    command(['instances', 'remove', 'prod']),
  );
  expect(status).toBe(400);
  expect(sent()).toEqual([]);
});
