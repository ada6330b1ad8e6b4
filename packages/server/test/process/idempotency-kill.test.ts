/** Time for which the first attempt counts as running after its process was killed. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { POLL } from '../poll.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { makeFolder, makeKey, type Server, startServer } from './program.ts';

const TIMEOUT_SECONDS = 4;
/** docs/idempotency.md: the time limit of the call, and five seconds more. */
const RUNS_MS_MAX = (TIMEOUT_SECONDS + 5) * 1000;
/** Time for a poll, and for a start on a busy machine. */
const SLACK_MS = 2000;

let folder: string;
let upstream: ScriptedUpstream;
let server: Server;
let key: string;

beforeEach(async () => {
  folder = makeFolder();
  // The first request is answered after a delay, and the others never.
  upstream = await startUpstream((socket, _, index) => {
    if (index === 0) setTimeout(() => answerLikeOdoo(socket, printResult('1')), 3000);
  });
  server = await start();
  key = await makeKey(server);
});
afterEach(() => upstream.close());

const start = () =>
  startServer([`--egress.allow=${upstream.url}`, '--upstream.protocol=jsonrpc', '--upstream.concurrency=1'], {
    folder,
  });

const makeCreate = (name: string) => makeCall(upstream.url, { action: 'create', params: [{ name }] });

async function call(idempotencyKey: string, body: unknown): Promise<{ code: number | undefined }[]> {
  const answer = await send(`${server.url}/api/erp/execute`, {
    method: 'POST',
    headers: {
      'x-proxy-api': key,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      'x-request-timeout': String(TIMEOUT_SECONDS),
    },
    body: JSON.stringify(body),
  });
  return [JSON.parse(answer.body.toString())].flat().map(({ error }) => ({ code: error?.code }));
}

/** Kills the process once Odoo has the call. Returns how long after its beginning the call counts as running. */
async function measureRunning(body: unknown, requests: number): Promise<number> {
  const startedMs = performance.now();
  const lost = call('order', body).catch(() => 'lost');
  await expect.poll(() => upstream.requests.length, { timeout: 15_000 }).toBe(requests);
  server.kill('SIGKILL');
  expect(await lost).toBe('lost');
  server = await start();
  const lastCode = async () => (await call('order', body)).at(-1)?.code;
  expect(await lastCode()).toBe(-32014);
  await expect.poll(lastCode, { timeout: 30_000, interval: 100 }).toBe(-32015);
  expect(upstream.requests).toHaveLength(requests);
  return performance.now() - startedMs;
}

test('is the time limit of the call, even if the call waited for its permit before it was sent', {
  timeout: 60_000,
}, async () => {
  const first = call('first', makeCreate('first')).catch(() => {});
  await expect.poll(() => upstream.requests.length, POLL).toBe(1);
  expect(await measureRunning(makeCreate('second'), 2)).toBeLessThan(RUNS_MS_MAX + SLACK_MS);
  await first;
});

test('is the time limit of the batch for a call in a batch', { timeout: 60_000 }, async () => {
  expect(await measureRunning([makeCreate('first')], 1)).toBeLessThan(RUNS_MS_MAX + SLACK_MS);
});
