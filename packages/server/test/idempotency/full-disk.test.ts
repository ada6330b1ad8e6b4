/** Tests answers to calls with an idempotency key while the disk of the store is full. */
import { DatabaseSync } from 'node:sqlite';
import { createConnection, createIdempotency, migrate } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { ENDLESS_MS } from '../time.ts';

const LARGE = `"${'x'.repeat(100_000)}"`;

let now: number;
let database: DatabaseSync;
let upstream: ScriptedUpstream;
let proxy: RunningProxy;

beforeEach(async () => {
  now = Date.now();
  database = new DatabaseSync(':memory:');
  migrate(database);
  upstream = await startUpstream((socket) => answerLikeOdoo(socket, printResult(LARGE)));
  proxy = await startProxy({ allow: [upstream.url] });
  const connection = createConnection(database, { clock: () => now });
  const onDisk = createIdempotency({ durable: connection, quick: connection });
  Object.assign(proxy.app.store.idempotency, onDisk);
});
afterEach(async () => {
  await proxy.close();
  await upstream.close();
  database.close();
});

/** Makes SQLite return SQLITE_FULL after this number of bytes, as for a full file system. */
function leaveBytes(bytes: number): void {
  const read = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  database.exec(`PRAGMA max_page_count = ${read('page_count') + Math.ceil(bytes / read('page_size'))}`);
}

const create = () => makeCall(upstream.url, { action: 'create', params: [{}] });
const send = (key: string) => proxy.call(create(), { 'idempotency-key': key });

test('a call is not sent, can be sent again, and runs when there is space; calls without a key continue', async () => {
  leaveBytes(0);
  // The database may still have room for some keys without growing.
  for (let index = 0; (await send(`${index}`)).status === 200; index++) expect(index).toBeLessThan(1000);
  const sent = upstream.requests.length;
  expect(await send('a')).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
    json: { error: { code: -32013, data: { outcome: 'not_sent', retryable: true } } },
  });
  expect(upstream.requests).toHaveLength(sent);
  expect((await proxy.call(create())).status).toBe(200);
  leaveBytes(1_000_000);
  expect((await send('a')).json.result).toHaveLength(100_000);
  expect((await send('a')).headers['idempotency-replayed']).toBe('true');
});

test('a caller gets an answer that does not fit on the disk, and a retry gets an unknown outcome', async () => {
  leaveBytes(10_000);
  expect((await send('a')).json.result).toHaveLength(100_000);
  expect((await send('a')).json.error).toMatchObject({ code: -32014, data: { retryable: true } });
  // No attempt of a call runs for so long.
  now += ENDLESS_MS;
  expect((await send('a')).json.error).toMatchObject({ code: -32015 });
  expect(upstream.requests).toHaveLength(1);
  expect(proxy.log).toContainEqual(expect.objectContaining({ msg: 'idempotency' }));
});
