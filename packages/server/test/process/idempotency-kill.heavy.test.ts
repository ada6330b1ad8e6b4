/** Tests for how long the first attempt counts as running after its process was killed. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import { makeFolder, makeKey, type Server, startServer } from './program.ts';

/** An attempt counts as running for the time limit of the call and this additional time (docs/idempotency.md). */
const MORE_MS = 5000;
/**
 * The call waits longer than the additional time, so that the test notices a time limit that counts from the sending.
 */
const LONGER_THAN_MORE_MS = 5500;
const OVERLOADED = -32013;
const RUNNING = -32014;
const OUTCOME_UNKNOWN = -32015;

let folder: string;
let upstream: ScriptedUpstream;
let server: Server;
let key: string;
/** Lets Odoo answer the call that holds the permit. */
let letGo: () => void;

beforeEach(async () => {
  folder = makeFolder();
  letGo = () => {};
  // Creates are never answered.
  upstream = await startUpstream((socket, { body }) => {
    const answer = () => answerLikeOdoo(socket, printResult('1'));
    if (body.includes('hold_turn')) letGo = answer;
    else if (!body.includes('create')) answer();
  });
  server = await start();
  key = await makeKey(server);
});
afterEach(() => upstream.close());

const start = () =>
  startServer([`--egress.allow=${upstream.url}`, '--upstream.protocol=jsonrpc', '--upstream.concurrency=1'], {
    folder,
  });

const makeCreate = () => makeCall(upstream.url, { action: 'create', params: [{ name: 'first' }] });

async function call(
  idempotencyKey: string | null,
  body: unknown,
  timeoutSeconds: number,
): Promise<number | undefined> {
  const answer = await send(`${server.url}/api/erp/execute`, {
    method: 'POST',
    headers: {
      'x-proxy-api': key,
      'content-type': 'application/json',
      ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      'x-request-timeout': String(timeoutSeconds),
    },
    body: JSON.stringify(body),
  });
  return [JSON.parse(answer.body.toString())].flat().at(-1).error?.code;
}

const countCreates = () => upstream.requests.filter(({ body }) => body.includes('create')).length;

/** The time until which the only create counts as running in the store. */
function readRunsUntilMs(): number {
  const store = new DatabaseSync(join(folder, 'data/erp-proxy.db'), { readOnly: true });
  const rows = store.prepare('SELECT runs_until FROM idempotency_keys WHERE is_done = 0').all();
  store.close();
  expect(rows).toHaveLength(1);
  return Number(rows[0]?.['runs_until']);
}

async function readWaiting(): Promise<number> {
  const text = (await send(`${server.url}/metrics`)).body.toString();
  return Number(/^erp_proxy_upstream_waiting\{.*\} (\d+)$/m.exec(text)?.[1]);
}

test('is the time limit of the call, even if the call waited for its permit before it was sent', async () => {
  const timeoutSeconds = 60;
  // Metrics include a database only after it has answered.
  await call(null, makeCall(upstream.url), timeoutSeconds);
  const { key: order, begunMs, lost } = await sendAfterWait(timeoutSeconds);
  server.kill('SIGKILL');
  expect(await lost).toBe('lost');
  await server.ended;
  server = await start();
  await expect.poll(() => call(order, makeCreate(), timeoutSeconds)).toBe(RUNNING);
  expect(countCreates()).toBe(1);
  server.kill('SIGKILL');
  await server.ended;
  expect(readRunsUntilMs()).toBeLessThan(begunMs + timeoutSeconds * 1000 + MORE_MS);
});

/**
 * Makes a create wait for the only permit, then lets it be sent. On a busy machine, the store may take longer than a
 * call waits for it: then the create is refused, and another one is made.
 */
async function sendAfterWait(timeoutSeconds: number) {
  for (let times = 1; ; times++) {
    const key = `order ${times}`;
    const isHeld = () => upstream.requests.filter(({ body }) => body.includes('hold_turn')).length === times;
    const holder = call(null, makeCall(upstream.url, { action: 'hold_turn' }), timeoutSeconds);
    await expect.poll(isHeld).toBe(true);
    let ended: unknown = null;
    const lost = call(key, makeCreate(), timeoutSeconds).catch(() => 'lost');
    void lost.then((how) => {
      ended = how;
    });
    await expect.poll(readWaiting).toBe(1);
    const begunMs = Date.now();
    await pause(LONGER_THAN_MORE_MS);
    letGo();
    expect(await holder).toBeUndefined();
    await expect.poll(() => countCreates() === 1 || ended !== null).toBe(true);
    if (ended === null) return { key, begunMs, lost };
    expect([ended, countCreates()]).toEqual([OVERLOADED, 0]);
    expect(times).toBeLessThan(5);
  }
}

test('is the time limit of the batch for a call in a batch', async () => {
  const timeoutSeconds = 3;
  const lost = call('order', [makeCreate()], timeoutSeconds).catch(() => 'lost');
  await expect.poll(countCreates).toBe(1);
  const begunMs = Date.now();
  server.kill('SIGKILL');
  expect(await lost).toBe('lost');
  await server.ended;
  const runsUntilMs = readRunsUntilMs();
  expect(runsUntilMs).toBeGreaterThan(begunMs);
  expect(runsUntilMs).toBeLessThan(begunMs + timeoutSeconds * 1000 + MORE_MS);
  server = await start();
  await expect.poll(() => call('order', [makeCreate()], timeoutSeconds)).toBe(OUTCOME_UNKNOWN);
  expect(countCreates()).toBe(1);
});
