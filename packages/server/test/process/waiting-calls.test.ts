/** Changes that another process makes to a SQLite store apply to waiting calls within a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HttpAnswer } from '../harness.ts';
import { POLL } from '../poll.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { callServer, makeFolder, runProgram, type Server, startServer } from './program.ts';

const ENV = { ERP_PROXY_VAULT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
/** Time within which a change by another process takes effect. */
const CHANGE_MS = 1000;

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

/** Makes a call that waits for its permit, lets another process make a change, and frees the permit a second later. */
async function callDuring(
  key: string,
  changes: Record<string, unknown>,
  change: () => Promise<unknown>,
): Promise<HttpAnswer> {
  const holder = await command(['keys', 'create', '--name=holder']);
  void callServer(server, holder.key, makeCall(upstream.url, { action: 'hold_turn' }));
  await expect.poll(() => upstream.requests.some(({ body }) => body.includes('hold_turn')), POLL).toBe(true);
  const waiting = callServer(server, key, makeCall(upstream.url, { action: 'unlink', ...changes }));
  // Nothing outside of the process shows that the call is waiting.
  await sleep(500);
  await change();
  await sleep(CHANGE_MS);
  letGo();
  return waiting;
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
