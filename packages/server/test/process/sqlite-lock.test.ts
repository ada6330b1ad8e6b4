/** The program while another process, such as a backup or `sqlite3`, holds the write lock of its SQLite file. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { makeFolder, makeKey, type Server, startServer } from './program.ts';
import { watchHealth } from './watch-health.ts';

/** Longer than the maximum wait of a write. */
const HELD_MS = 8000;
/** A program that waited for the lock in its main thread would not answer for at least a second. */
const SILENT_MS_MAX = 800;
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
    env: { ERP_PROXY_ADMIN_TOKEN: TOKEN },
  });
  lock = new DatabaseSync(join(folder, 'data/erp-proxy.db'));
});
afterEach(async () => {
  lock.close();
  await sandbox.close();
});

/** Makes a call and measures its time. */
async function call(key: string, { action = 'search_count', headers = {} } = {}) {
  const { url, db, users } = sandbox;
  const { userId: user_id, apiKey: api_key } = users.admin;
  const params = action === 'create' ? [{ name: 'Azure' }] : [[]];
  const startedMs = performance.now();
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
  return { ...answer, json: JSON.parse(answer.body.toString()), tookMs: performance.now() - startedMs };
}

const ask = (path: string, method = 'GET', body?: object) =>
  send(`${server.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });

test('answers health checks and calls without an idempotency key all the time, and refuses writes in time', {
  timeout: 60_000,
}, async () => {
  const cached = await makeKey(server);
  const unused = [await makeKey(server), await makeKey(server), await makeKey(server)];
  expect((await call(cached)).status).toBe(200);

  lock.exec('BEGIN IMMEDIATE');
  const lockedMs = performance.now();
  const health = watchHealth(server.url);
  const answers: Awaited<ReturnType<typeof call>>[] = [];
  const refused: Awaited<ReturnType<typeof call>>[] = [];
  const changes: { status: number }[] = [];
  const protectedCalls = [1, 2, 3].map(async (index) => {
    refused.push(await call(cached, { action: 'create', headers: { 'idempotency-key': `retry-${index}` } }));
  });
  const change = (async () => changes.push(await ask('/keys', 'POST', { name: 'late' })))();
  while (performance.now() - lockedMs < HELD_MS) {
    for (const key of [cached, ...unused.splice(0, 1)]) answers.push(await call(key));
    expect((await ask('/keys')).status).toBe(200);
  }
  const { slowestMs, answers: healthAnswers } = await health.stop();
  await Promise.all([...protectedCalls, change]);
  lock.exec('COMMIT');

  expect(slowestMs).toBeLessThan(SILENT_MS_MAX);
  expect(healthAnswers).toBeGreaterThan(50);
  expect(unused).toEqual([]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThan(SILENT_MS_MAX);
  for (const { status, json, tookMs } of refused) {
    expect(status).toBe(503);
    expect(json.error).toMatchObject({ code: -32013, data: { outcome: 'not_sent', retryable: true } });
    expect(tookMs).toBeLessThan(4000);
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
  setTimeout(() => lock.exec('COMMIT'), 500);
  const [created, change] = await Promise.all([
    call(key, { action: 'create', headers: { 'idempotency-key': 'short' } }),
    ask('/keys', 'POST', { name: 'soon' }),
  ]);
  expect(created.json).toMatchObject({ result: expect.any(Number) });
  expect(change.status).toBe(201);
});
