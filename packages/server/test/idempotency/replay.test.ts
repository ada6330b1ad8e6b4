/** docs/idempotency.md#what-a-retry-gets, `idempotency-key`: a retry gets the first answer, and does not run again. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { startSandbox } from '@erp-proxy/sandbox';
import { afterEach, describe, expect, test } from 'vitest';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { answerLikeOdoo, makeCall, printResult, type Script, startUpstream } from '../scripted-upstream.ts';
import { expectToStay, passTurns } from '../time.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(script: Script, settings: Record<string, string> = {}) {
  const upstream = await startUpstream(script);
  const proxy = await startProxy({ allow: [upstream.url], settings });
  closers.push(upstream.close, proxy.close);
  const create = (changes: Record<string, unknown> = {}) =>
    makeCall(upstream.url, { action: 'create', params: [{ name: 'a' }], ...changes });
  const send = (key: string, body: unknown = create(), headers: Record<string, string> = {}) =>
    proxy.call(body, { 'idempotency-key': key, ...headers });
  return { proxy, upstream, create, send };
}

/** The answer to each call is its number. */
const count: Script = (socket, _, index) => answerLikeOdoo(socket, printResult(`${index + 1}`));

describe('a retry with the same key', () => {
  test('gets the first answer, byte for byte, with a header that says so', async () => {
    const { send, upstream } = await start(count);
    const first = await send('order 17');
    const again = await send('order 17');
    expect(first.json.result).toBe(1);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
    expect(Buffer.compare(again.body, first.body)).toBe(0);
    expect((await send('order 18')).json.result).toBe(2);
    expect(upstream.requests).toHaveLength(2);
  });

  test('gets an error of Odoo again, too', async () => {
    const sandbox = await startSandbox({ version: 17 });
    const proxy = await startProxy({ allow: [sandbox.url] });
    closers.push(sandbox.close, proxy.close);
    const { userId, apiKey } = sandbox.users.admin;
    const erp_instance = { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey };
    const body = makeCall(sandbox.url, { action: 'create', params: [{ no_such_field: 1 }], erp_instance });
    const [first, again] = [
      await proxy.call(body, { 'idempotency-key': 'a' }),
      await proxy.call(body, { 'idempotency-key': 'a' }),
    ];
    expect(first.json.error.data.retryable).toBe(false);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.json).toEqual(first.json);
  });

  test('does not run if the caller left before the first answer arrived', async () => {
    let answerFirst = () => {};
    const { proxy, send, create, upstream } = await start((socket, request, index) => {
      answerFirst = () => void count(socket, request, index);
    });
    const body = JSON.stringify(create());
    const headers = { 'x-proxy-api': proxy.key, 'content-type': 'application/json', 'idempotency-key': 'a' };
    const leaving = request(`${proxy.url}/api/erp/execute`, { method: 'POST', headers });
    leaving.on('error', () => {});
    leaving.end(body);
    await expect.poll(() => upstream.requests.length).toBe(1);
    leaving.destroy();
    const meanwhile = await send('a', body);
    expect(meanwhile).toMatchObject({ status: 409, headers: { 'retry-after': '1' } });
    answerFirst();
    await expect.poll(async () => (await send('a', body)).json.result).toBe(1);
    expect(upstream.requests).toHaveLength(1);
  });

  test('runs if the first attempt did not', async () => {
    const { send, upstream } = await start((socket, request, index) =>
      index === 0 ? answerLikeOdoo(socket, '', '429 Too Many Requests') : count(socket, request, index),
    );
    expect((await send('a')).json.error).toMatchObject({ code: -32013, data: { outcome: 'not_sent' } });
    expect((await send('a')).json.result).toBe(2);
    expect((await send('a')).json.result).toBe(2);
    expect(upstream.requests).toHaveLength(2);
  });

  test('does not run if a reverse proxy turned its own error into a redirect', async () => {
    const { send, upstream } = await start((socket) => answerLikeOdoo(socket, '', '302 Found'));
    expect((await send('a')).json.error).toMatchObject({ code: -32005, data: { outcome: 'unknown' } });
    expect((await send('a')).json.error).toMatchObject({ code: -32015 });
    expect(upstream.requests).toHaveLength(1);
  });

  test('gets a long answer up to the maximum size that is stored', async () => {
    const long =
      (bytes: number): Script =>
      (socket) =>
        answerLikeOdoo(socket, printResult(`"${'x'.repeat(bytes)}"`));
    const kept = await start(long(200_000));
    const first = await kept.send('a');
    expect(Buffer.compare((await kept.send('a')).body, first.body)).toBe(0);
    expect(kept.upstream.requests).toHaveLength(1);
    const large = await start(long(300_000));
    expect((await large.send('a')).json.result).toHaveLength(300_000);
    expect((await large.send('a')).json.error).toMatchObject({
      code: -32015,
      message: expect.stringMatching(/was run, but its answer was too large/),
    });
    expect(large.upstream.requests).toHaveLength(1);
    const read = large.create({ action: 'read', params: [[1]] });
    for (let time = 0; time < 2; time++) expect((await large.send('r', read)).status).toBe(200);
    expect(large.upstream.requests).toHaveLength(3);
  });
});

test.each([100, 50_000])(
  'an answer of %i bytes is complete only once a retry would get it',
  async (bytes) => {
    const { proxy, send } = await start((socket) =>
      answerLikeOdoo(socket, printResult(`"${'x'.repeat(bytes)}"`)),
    );
    const { idempotency } = proxy.app.store;
    const { complete } = idempotency;
    const asked = Promise.withResolvers<void>();
    const kept = Promise.withResolvers<void>();
    idempotency.complete = async (...given) => {
      asked.resolve();
      await kept.promise;
      return complete(...given);
    };
    let isWhole = false;
    const answered = send('a').then(() => {
      isWhole = true;
    });
    await asked.promise;
    await expectToStay(() => isWhole, false);
    kept.resolve();
    await answered;
  },
);

describe('calls of a batch', () => {
  test('that were not sent yet are not sent after their caller has left', async () => {
    const answers: (() => void)[] = [];
    let isHeld = false;
    const script: Script = (...given) =>
      isHeld ? void answers.push(() => void count(...given)) : count(...given);
    const { proxy, send, create, upstream } = await start(script, { 'batch.concurrency': '8' });
    // The credentials are known, so that the first of several calls does not wait for others.
    await proxy.call(create());
    isHeld = true;
    const batch = JSON.stringify(Array.from({ length: 20 }, (_, index) => create({ id: index })));
    const headers = { 'x-proxy-api': proxy.key, 'content-type': 'application/json', 'idempotency-key': 'a' };
    const isClosed = new Promise((resolve) => {
      proxy.app.server.server.once('connection', (socket: Socket) => socket.once('close', resolve));
    });
    const leaving = request(`${proxy.url}/api/erp/execute`, { method: 'POST', headers, agent: false });
    leaving.on('error', () => {});
    leaving.end(batch);
    await expect.poll(() => upstream.requests.length).toBe(1 + 8);
    leaving.destroy();
    await isClosed;
    await passTurns();
    const outcomes = () =>
      proxy.log.map((line) => line['outcome']).filter((outcome) => outcome !== undefined);
    for (const answer of answers.splice(0)) answer();
    await expect.poll(() => outcomes().length).toBe(1 + 20);
    expect(upstream.requests).toHaveLength(1 + 8);
    expect(outcomes().filter((outcome) => outcome === 'caller_left')).toHaveLength(20 - 8);
    isHeld = false;
    const { json } = await send('a', batch);
    const results = json.map(({ result }: { result: number }) => result);
    expect(results.toSorted((one: number, other: number) => one - other)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 2),
    );
  });

  test('are stored by their position', async () => {
    const { send, create, upstream } = await start((socket, request, index) =>
      index === 1 ? void socket.destroy() : count(socket, request, index),
    );
    const batch = [create({ id: 'a' }), create({ id: 'b' }), create({ id: 'c' })];
    const { json: first } = await send('batch', batch);
    const { json: again, headers } = await send('batch', batch);
    expect(headers['idempotency-replayed']).toBeUndefined();
    const broken = first.findIndex((answer: { error?: object }) => answer.error !== undefined);
    expect(first[broken].error.data).toMatchObject({ type: 'upstream_unreachable', outcome: 'unknown' });
    expect(again[broken].error).toMatchObject({ code: -32015 });
    const others = [0, 1, 2].filter((index) => index !== broken);
    for (const index of others) expect(again[index]).toEqual(first[index]);
    expect(upstream.requests).toHaveLength(3);
  });

  test('conflict if their position has another call', async () => {
    const { send, create } = await start(count);
    await send('batch', [create({ id: 'a' }), create({ id: 'b' })]);
    const { json } = await send('batch', [create({ id: 'a' }), create({ id: 'x' })]);
    expect(json[0].result).toEqual(expect.any(Number));
    expect(json[1].error).toMatchObject({ code: -32014 });
  });
});

test('another client can use the same key for its own call', async () => {
  const { proxy, send, create, upstream } = await start(count);
  await send('a');
  const { key } = await proxy.app.keys.create({ name: 'other' });
  const other = await proxy.call(create(), { 'idempotency-key': 'a', 'x-proxy-api': key });
  expect(other.json.result).toBe(2);
  expect(upstream.requests).toHaveLength(2);
});

describe('a client key that has reached its bounds', () => {
  test('has calls with new keys refused and not sent, and can make other calls', async () => {
    const { proxy, send, create, upstream } = await start(count, { 'idempotency.clientKeysMax': '2' });
    for (const key of ['a', 'b']) expect((await send(key)).status).toBe(200);
    expect(await send('c')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '60' },
      json: {
        error: {
          code: -32012,
          message: expect.stringMatching(/`idempotency\.clientKeysMax` allows.*Nothing was sent/),
          data: { type: 'rate_limited', retryable: true, path: 'idempotency-key' },
        },
      },
    });
    expect(upstream.requests).toHaveLength(2);
    expect((await send('a')).json.result).toBe(1);
    expect((await proxy.call(create())).json.result).toBe(3);
    const { key } = await proxy.app.keys.create({ name: 'other' });
    expect((await send('c', create(), { 'x-proxy-api': key })).json.result).toBe(4);
  });

  test('learns that a call ran whose answer exceeded the bound', async () => {
    const { send, upstream } = await start(count, { 'idempotency.clientBytesMax': '100' });
    for (const key of ['a', 'b']) expect((await send(key)).status).toBe(200);
    expect((await send('a')).headers['idempotency-replayed']).toBe('true');
    expect((await send('b')).json.error).toMatchObject({
      code: -32015,
      message: expect.stringMatching(
        /was run, but its answer was too large.*with what is kept for this client key/,
      ),
    });
    expect(upstream.requests).toHaveLength(2);
  });
});

test('a call without a key runs each time', async () => {
  const { proxy, create, upstream } = await start(count);
  for (let time = 1; time <= 2; time++) expect((await proxy.call(create())).json.result).toBe(time);
  expect(upstream.requests).toHaveLength(2);
});

test.each(['', 'x'.repeat(256), 'x'.repeat(10_240)])(
  'a key of another length is refused: %#',
  async (key) => {
    const { send, upstream } = await start(count);
    expect(await send(key)).toMatchObject({
      status: 400,
      json: { error: { code: -32600, message: expect.stringContaining(`has ${key.length}`) } },
    });
    expect(upstream.requests).toHaveLength(0);
  },
);

/** Sends raw header lines. */
function sendRaw(
  proxy: RunningProxy,
  body: string,
  lines: string[],
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(proxy.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    socket.on('error', reject);
    socket.on('end', () => {
      const [head = '', ...rest] = answer.split('\r\n\r\n');
      resolve({ status: Number(head.split(' ')[1]), body: rest.join('') });
    });
    const head = [
      'POST /api/erp/execute HTTP/1.1',
      'host: x',
      'connection: close',
      `x-proxy-api: ${proxy.key}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...lines,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

test.each([
  ['two keys', ['idempotency-key: a', 'idempotency-key: b']],
  ['one key twice', ['idempotency-key: a', 'Idempotency-Key: a']],
  ['a key and an empty one', ['idempotency-key: a', 'idempotency-key:']],
])('%s in separate headers are refused, because a retry might have only one of them', async (_, lines) => {
  const { proxy, create, upstream } = await start(count);
  const { status, body } = await sendRaw(proxy, JSON.stringify(create()), lines);
  expect(status).toBe(400);
  expect(JSON.parse(body).error).toMatchObject({
    code: -32600,
    message: expect.stringMatching(/`idempotency-key` comes 2 times; send it once/),
    data: { path: 'idempotency-key' },
  });
  expect(upstream.requests).toHaveLength(0);
});

test('keys outside ASCII are compared by their bytes', async () => {
  const { proxy, create, upstream } = await start(count);
  const send = async (key: string) => {
    const { body } = await sendRaw(proxy, JSON.stringify(create()), [`idempotency-key: ${key}`]);
    return JSON.parse(body);
  };
  const keys = ['Bestellung-é', 'Bestellung-è', '注文', '🧾', 'e\u0301', '\u00e9'];
  for (const [index, key] of keys.entries()) expect((await send(key)).result, key).toBe(index + 1);
  for (const [index, key] of keys.entries()) expect((await send(key)).result, key).toBe(index + 1);
  expect(upstream.requests).toHaveLength(keys.length);
  expect((await send('é'.repeat(127))).result).toBe(keys.length + 1);
  expect((await send('é'.repeat(128))).error).toMatchObject({ code: -32600 });
});

test('a call with a key does not run while the store is away', async () => {
  const { proxy, send, upstream, create } = await start(count);
  const { idempotency } = proxy.app.store;
  const { find, claim } = idempotency;
  const away = () => {
    throw new Error('the store is away');
  };
  for (const broken of [{ find: away }, { claim: away }]) {
    Object.assign(idempotency, { find, claim }, broken);
    expect(await send('a')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      json: { error: { code: -32013, data: { outcome: 'not_sent', retryable: true } } },
    });
  }
  expect((await proxy.call(create())).status, 'the others go on').toBe(200);
  Object.assign(idempotency, { find, claim });
  expect((await send('a')).json.result).toBe(2);
  expect(upstream.requests).toHaveLength(2);
});

test('a claim that the store does not answer is given up, and does not block calls without a key', async () => {
  const { proxy, send, create, upstream } = await start(count, {
    'upstream.concurrency': '1',
    'upstream.concurrencyMin': '1',
  });
  const { idempotency } = proxy.app.store;
  const { claim } = idempotency;
  const isBack = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  idempotency.claim = async (wanted) => {
    asked.resolve();
    await isBack.promise;
    return claim(wanted);
  };
  const protectedCall = send('a', create(), { 'x-request-timeout': '300' });
  await asked.promise;
  expect((await proxy.call(create(), { 'x-request-timeout': '300' })).json.result).toBe(1);
  expect(await protectedCall).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
    json: { error: { code: -32013, data: { outcome: 'not_sent', retryable: true } } },
  });
  Object.assign(idempotency, { claim });
  isBack.resolve();
  // A claim that succeeded late is released.
  await expect.poll(async () => (await send('a')).json.result).toBe(2);
  expect(upstream.requests).toHaveLength(2);
});

test('the log marks repeated answers', async () => {
  const { proxy, send } = await start(count);
  await send('a');
  await send('a');
  await expect.poll(() => proxy.log.filter((line) => line['outcome'] === 'replayed')).toHaveLength(1);
  expect(JSON.stringify(proxy.log)).not.toContain('idempotency-key');
});
