/**
 * Tests that after a random mixture of callers and servers, no call runs or waits and no connection or permit is held.
 * Policies and instances change meanwhile, and some callers read nothing of answers that are larger than all buffers.
 */
import { connect } from 'node:net';
import { findVersion } from '@erp-proxy/control/testing';
import { afterEach, expect, test } from 'vitest';
import { printCall, printInstance, UPSTREAM_KEY } from '../execute/expectations.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import { runMixedLoad } from '../mixed-load.ts';
import { answerByWord } from '../mixed-odoo.ts';
import { countCases } from '../random-cases.ts';
import { startUpstream } from '../scripted-upstream.ts';
import { createRandom } from '../seeded-random.ts';
import { pauseAtRandom } from '../time.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const REQUESTS = 10 * countCases(40);
const BETWEEN_CHANGES_MS_MAX = 100;
const CONCURRENCY = 20;
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
/** Maximum time for which the connection of an unread answer is kept open. */
const UNREAD_MS_MAX = 3000;

test('all gauges are 0 after batches, time-outs, callers that leave, and servers that hang and fail', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`seed ${seed}\n`);
  const random = createRandom(seed);
  const upstream = await startUpstream(answerByWord(random));
  open.push(upstream);
  const settings = {
    'upstream.timeoutMs': '2500',
    'cache.bytesMax': '1000000',
    'vault.masterKey': MASTER_KEY,
    // Connections of callers that read nothing are closed within a second.
    'http.answerBytesPerSecondMin': '2000000',
  };
  const proxy = await startProxy({ allow: [upstream.url], settings });
  open.push(proxy);
  const keys = [proxy.key];
  const policy = {
    origins: [upstream.url],
    instances: ['*'],
    models: { '*': ['*'] },
    concurrency: CONCURRENCY,
  };
  keys.push((await proxy.app.keys.create({ name: 'other' })).key);
  const { key: limited, record } = await proxy.app.keys.create({ name: 'limited', policy });
  keys.push(limited);
  const [first = ''] = keys;
  const instances = ['prod', 'test'].map((db) => printInstance(upstream.url, { db: JSON.stringify(db) }));
  const call = (key: string, instance: string | undefined) =>
    proxy.call(
      `{"id":1,"action":"search","model_id":"res.partner","params":[[["name","=","word-quick"]]],"erp_instance":${instance}}`,
      { 'x-proxy-api': key, 'cache-control': 'no-cache' },
    );
  for (const instance of instances) expect((await call(first, instance)).json.result).toBe(true);

  let left = REQUESTS;
  let isOver = false;
  const bounds = [1, 2, 5, 20];
  for (const name of ['bounded', 'other-bounded'])
    await proxy.app.instances.add({ ...makeInstance(upstream.url), name, concurrency: 2 });
  const targets = [...instances, '{"name":"bounded"}', '{"name":"other-bounded"}'];
  const change = async () => {
    for (let round = 1; !isOver; round++) {
      const { version } = (await proxy.app.keys.find(record.id)) ?? record;
      const limit = round % 2 === 0 ? {} : { limit_max: 1 + (round % 50) };
      await proxy.app.keys.update(record.id, version, { policy: { ...policy, ...limit } });
      await proxy.app.instances.update(await findVersion(proxy.app.instances, 'bounded', round), {
        concurrency: bounds[round % bounds.length] ?? 1,
      });
      await pauseAtRandom(random, BETWEEN_CHANGES_MS_MAX);
    }
    const { version } = (await proxy.app.keys.find(record.id)) ?? record;
    await proxy.app.keys.update(record.id, version, { policy });
  };
  const readNothing = async () => {
    while (!isOver) {
      const print = (word: string) => printSearch(word, targets[Math.floor(random() * targets.length)] ?? '');
      const words = ['quick', 'huge', 'large', 'huge'].slice(0, 1 + Math.floor(random() * 4));
      const body = random() < 0.5 ? print('huge') : `[${words.map(print)}]`;
      await leaveUnread(proxy, keys[Math.floor(random() * keys.length)] ?? first, body, random);
    }
  };
  const others = [change(), readNothing(), readNothing()];
  const load = { url: proxy.url, keys, instances: targets, callers: 40, isOver: () => left-- <= 0, random };
  const outcomes = await runMixedLoad(load);
  isOver = true;
  await Promise.all(others);

  const description = `seed ${seed}: ${JSON.stringify(outcomes)}`;
  expect(outcomes.answers['ok'], description).toBeGreaterThan(0);
  expect(outcomes.answers['internal'], description).toBeUndefined();
  const idle = instances.map(() => expect.objectContaining({ running: 0, waiting: 0 }));
  await expect.poll(() => proxy.app.databaseLimiters.states()).toEqual(idle);
  await expect.poll(() => upstream.sockets.size).toBe(0);
  const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
  for (const gauge of ['requests_in_flight', 'upstream_running', 'upstream_waiting']) {
    const values = [...metrics.matchAll(new RegExp(`^erp_proxy_${gauge}(?:{.*})? (.*)$`, 'gm'))];
    expect(
      values.map(([, value]) => value),
      `${gauge}; ${description}`,
    ).toEqual(Array(gauge === 'requests_in_flight' ? 1 : instances.length).fill('0'));
  }
  // The concurrency of a key is free as well: after the breaker has closed, its maximum number of calls is admitted.
  await expect.poll(async () => (await call(first, instances[0])).json.result).toBe(true);
  const all = await Promise.all(Array.from({ length: CONCURRENCY }, () => call(limited, instances[0])));
  expect(all.map(({ json }) => json.error?.data?.rule)).toEqual(Array(CONCURRENCY).fill(undefined));
});

function makeInstance(url: string) {
  return { url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY, protocol: 'jsonrpc' as const };
}

function printSearch(word: string, instance: string): string {
  return printCall('', {
    action: '"search"',
    params: `[[["name","=","word-${word}"]]]`,
    erp_instance: instance,
  });
}

/** Sends a call whose caller reads nothing of the answer and leaves after a random time. */
async function leaveUnread(
  { url }: ErpProxy,
  key: string,
  body: string,
  random: () => number,
): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  socket.write(
    `POST /api/erp/execute HTTP/1.1\r\nhost: proxy\r\ncontent-type: application/json\r\nx-proxy-api: ${key}\r\n` +
      `x-request-timeout:60\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await pauseAtRandom(random, UNREAD_MS_MAX);
  socket.destroy();
}
