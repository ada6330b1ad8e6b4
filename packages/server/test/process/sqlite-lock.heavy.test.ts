/** Tests the program while another process, such as a backup or `sqlite3`, holds the write lock of its SQLite file. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { pause } from '../time.ts';
import { makeFolder, makeKey, type Server, startServer } from './program.ts';
import { watchHealth } from './watch-health.ts';

const MONITOR = fileURLToPath(new URL('./block-monitor.mjs', import.meta.url));
/** A program that waited for the lock in its main thread would be blocked for a second, the shortest wait. */
const BLOCKED_MS_MAX = 500;
/**
 * Minimum number of answers during the five seconds for which a change waits for the lock. A free processor gives ten
 * times more.
 */
const ANSWERS_MIN = 30;
/**
 * These keys are used for the first time one after another. If each first use waited as long as a claim, a second, the
 * last one would end after the change, which waits five seconds.
 */
const UNUSED_KEYS = 6;
/** Shorter than the second for which a claim waits. */
const SHORTER_THAN_A_CLAIM_WAITS_MS = 100;
const TOKEN = 'a token for the tests of the lock, long enough';

let folder: string;
let sandbox: Sandbox;
let server: Server;
let lock: DatabaseSync;

beforeEach(async () => {
  folder = makeFolder();
  sandbox = await startSandbox();
  server = await startServer([`--egress.allow=${sandbox.url}`], {
    folder,
    env: { ERP_PROXY_ADMIN_TOKEN: TOKEN, NODE_OPTIONS: `--import=${MONITOR}` },
  });
  lock = new DatabaseSync(join(folder, 'data/erp-proxy.db'));
});
afterEach(async () => {
  lock.close();
  await sandbox.close();
});

async function call(key: string, { action = 'search_count', headers = {} } = {}) {
  const { url, db, users } = sandbox;
  const { userId: user_id, apiKey: api_key } = users.admin;
  const params = action === 'create' ? [{ name: 'Azure' }] : [[]];
  const answer = await send(`${server.url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      action,
      model_id: 'res.partner',
      params,
      erp_instance: { url, db, user_id, api_key },
    }),
  });
  return { ...answer, json: JSON.parse(answer.body.toString()) };
}

/** The longest time for which the main thread of the program was blocked, since the last call of this function. */
async function readLongestBlockMs(): Promise<number> {
  const before = server.stderr.length;
  const find = () => /longest block ([\d.]+) ms\n/.exec(server.stderr.slice(before))?.[1];
  server.kill('SIGUSR2');
  await expect.poll(find).toBeDefined();
  return Number(find());
}

const ask = (path: string, method = 'GET', body?: object) =>
  send(`${server.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });

test('answers health checks and calls without an idempotency key all the time, and refuses writes in time', {}, async () => {
  const cached = await makeKey(server);
  const unused: string[] = [];
  while (unused.length < UNUSED_KEYS) {
    unused.push(JSON.parse((await ask('/keys', 'POST', { name: 'unused' })).body.toString()).key);
  }
  expect((await call(cached)).status).toBe(200);

  lock.exec('BEGIN IMMEDIATE');
  await readLongestBlockMs();
  const health = watchHealth(server.url);
  const answers: Awaited<ReturnType<typeof call>>[] = [];
  const refused: Awaited<ReturnType<typeof call>>[] = [];
  const changes: { status: number }[] = [];
  const ended: string[] = [];
  const change = (async () => {
    changes.push(await ask('/keys', 'POST', { name: 'late' }));
    ended.push('change');
  })();
  // The change begins earlier: a claim that waited as long would end after the change; a claim that waits a second ends
  // before it.
  await pause(SHORTER_THAN_A_CLAIM_WAITS_MS);
  const protectedCalls = [1, 2, 3].map(async (index) => {
    refused.push(await call(cached, { action: 'create', headers: { 'idempotency-key': `retry-${index}` } }));
    ended.push('claim');
  });
  const firstUses = (async () => {
    for (const key of unused) answers.push(await call(key));
    ended.push('first uses');
  })();
  let listings = 0;
  while (changes.length === 0) {
    answers.push(await call(cached));
    expect((await ask('/keys')).status).toBe(200);
    listings++;
  }
  const healthAnswers = health.answers;
  await health.stop();
  const blockedMs = await readLongestBlockMs();
  // The lock is held until all operations are refused.
  await Promise.all([...protectedCalls, firstUses, change]);
  lock.exec('COMMIT');

  expect(ended.filter((end) => end !== 'first uses')).toEqual(['claim', 'claim', 'claim', 'change']);
  expect(ended.indexOf('first uses')).toBeLessThan(ended.indexOf('change'));
  expect(blockedMs).toBeLessThan(BLOCKED_MS_MAX);
  expect(healthAnswers).toBeGreaterThan(ANSWERS_MIN);
  expect(listings).toBeGreaterThan(1);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  for (const { status, json } of refused) {
    expect(status).toBe(503);
    expect(json.error).toMatchObject({ code: -32013, data: { outcome: 'not_sent', retryable: true } });
  }
  expect(changes).toMatchObject([{ status: 503 }]);

  // No refused operation was made, and no accepted one is lost.
  const retried = await call(cached, { action: 'create', headers: { 'idempotency-key': 'retry-1' } });
  expect(retried.json).toMatchObject({ result: expect.any(Number) });
  const listed = JSON.parse((await ask('/keys')).body.toString());
  expect(listed.items.map((item: { name: string }) => item.name)).not.toContain('late');
  server.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ status: 0 });
  const records = lock.prepare("SELECT count(*) AS count FROM audit WHERE record ->> 'kind' = 'call'").get();
  expect(Number(records?.['count'])).toBe(1 + answers.length + refused.length + 1);
});

test('makes the writes that arrived during a short lock once it is released', async () => {
  const key = await makeKey(server);
  lock.exec('BEGIN IMMEDIATE');
  const writes = Promise.all([
    call(key, { action: 'create', headers: { 'idempotency-key': 'short' } }),
    ask('/keys', 'POST', { name: 'soon' }),
  ]);
  await pause(SHORTER_THAN_A_CLAIM_WAITS_MS);
  lock.exec('COMMIT');
  const [created, change] = await writes;
  expect(created.json).toMatchObject({ result: expect.any(Number) });
  expect(change.status).toBe(201);
});
