/** Tests retries, time limits, aborts and hooks with the real proxy, and an Odoo that fails on purpose. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { listenOnFreePort } from '../../server/test/listen.ts';
import { type Pair, startPair } from '../../server/test/pair.ts';
import {
  answerLikeOdoo,
  printResult,
  ROLLED_BACK,
  type Script,
} from '../../server/test/scripted-upstream.ts';
import { TEST_ACTOR } from '../../server/test/test-actor.ts';
import { ENDLESS_MS, MOMENT_MS, passTurns } from '../../server/test/time.ts';
import { createWire } from '../../server/test/wire.ts';
import { type ClientOptions, createClient, type ErpProxyError } from '../src/index.ts';

const API_KEY = 'upstream-key-0123456789';
const LONGER_THAN_A_TIMER_MS = 2 ** 40;

/** The proxy is configured to retry nothing itself. */
async function start(script: Script): Promise<Pair> {
  return closeAfterTest(await startPair(script, { settings: { 'upstream.retries': '0' } }));
}

function connect({ proxy, upstream }: Pair, changes: ClientOptions = {}) {
  const instance = { url: upstream.url, db: 'prod', userId: 2, apiKey: API_KEY };
  return createClient({ url: proxy.url, key: proxy.key, instance, ...changes });
}

async function catchError(promise: Promise<unknown>): Promise<ErpProxyError> {
  return promise.then(
    () => expect.fail('the call succeeded'),
    (error) => error,
  );
}

/** Answers the first request by `first`, and all others with `true`. */
const after =
  (first: Script): Script =>
  (socket, request, index) =>
    index === 0 ? first(socket, request, index) : answerLikeOdoo(socket, printResult('true'));

test('a write whose connection breaks is sent again and runs once', async () => {
  let answer = () => {};
  const pair = await start((socket) => {
    wire.cut();
    answer = () => answerLikeOdoo(socket, printResult('7'));
  });
  const wire = closeAfterTest(await createWire(pair.proxy.url));
  const onRetry = () => {
    wire.restore();
    answer();
  };
  const client = connect(pair, { url: wire.url, retries: 5, hooks: { onRetry } });
  expect(await client.model('res.partner').create({ name: 'Once' })).toBe(7);
  expect(pair.upstream.requests).toHaveLength(1);
});

test('an address with https of a proxy with http is explained in a line', async () => {
  const pair = await start((socket) => answerLikeOdoo(socket, printResult('1')));
  const url = pair.proxy.url.replace('http:', 'https:');
  const error = await catchError(connect(pair, { url, retries: 0 }).model('res.partner').count([]));
  expect(error.message).toMatch(/^No answer from https:\S+: ERR_SSL_\w+\.$/);
});

test('a write that may have run in Odoo is not sent again', async () => {
  const pair = await start((socket) => void socket.resetAndDestroy());
  const error = await catchError(connect(pair).model('res.partner').create({ name: 'Once' }));
  expect(error).toMatchObject({ type: 'upstream_unreachable', outcome: 'unknown', retryable: false });
  expect(error.idempotencyKey).toMatch(/./);
  expect(pair.upstream.requests).toHaveLength(1);
});

test('without idempotency keys, a write whose connection breaks is not sent again', async () => {
  const pair = await start((socket) => {
    wire.cut();
    answerLikeOdoo(socket, printResult('7'));
  });
  const wire = closeAfterTest(await createWire(pair.proxy.url));
  const client = connect(pair, { url: wire.url, idempotencyKeys: false });
  const error = await catchError(client.model('res.partner').create({ name: 'Once' }));
  expect(error).toMatchObject({ type: 'connection_failed', outcome: 'unknown', retryable: false });
});

test('a write that Odoo rolled back is sent again', async () => {
  const pair = await start(after((socket) => answerLikeOdoo(socket, ROLLED_BACK)));
  expect(await connect(pair).model('res.partner').update(1, {})).toBe(true);
  expect(pair.upstream.requests).toHaveLength(2);
});

test('the calls of a batch that can be repeated are repeated, the others keep their answers', async () => {
  const pair = await start((socket, _request, index) =>
    answerLikeOdoo(socket, index === 0 ? ROLLED_BACK : printResult(String(index))),
  );
  const write = { action: 'write', model_id: 'res.partner', params: [[1], {}] };
  const results = await connect(pair).batch([write, write]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(pair.upstream.requests).toHaveLength(3);
});

test('a retry waits as long as the proxy says', async () => {
  const pair = await start(
    after((socket) => {
      socket.end('HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\nno');
    }),
  );
  const delays: number[] = [];
  const client = connect(pair, { hooks: { onRetry: ({ delayMs }) => delays.push(delayMs) } });
  await client.model('res.partner').read([1]);
  expect(delays).toHaveLength(1);
  expect(delays[0]).toBeGreaterThanOrEqual(1000);
});

test('the retries of all calls are bounded', async () => {
  const pair = await start((socket) => void socket.resetAndDestroy());
  let requests = 0;
  const counting: ClientOptions['fetch'] = (url, init) => {
    requests++;
    return fetch(url, init);
  };
  const partners = connect(pair, { fetch: counting, retries: 1 }).model('res.partner');
  await Promise.allSettled(Array.from({ length: 40 }, (_, at) => partners.read([at + 1])));
  expect(requests).toBeGreaterThan(40);
  // Retries are limited to ten in a row, and a tenth of the calls.
  expect(requests).toBeLessThanOrEqual(40 + 10 + 4);
});

test('a time limit ends the call, and tells that a write may have run', async () => {
  const pair = await start(() => {});
  const wire = closeAfterTest(await createWire(pair.proxy.url));
  wire.freeze();
  const partners = connect(pair, { url: wire.url, timeout: MOMENT_MS }).model('res.partner');
  const read = await catchError(partners.read([1]));
  expect(read).toMatchObject({ type: 'client_timeout', outcome: undefined, retryable: true });
  expect(await catchError(partners.update(1, {}))).toMatchObject({
    type: 'client_timeout',
    outcome: 'unknown',
  });
});

test('a time limit is a number above 0, and may be longer than a timer of JavaScript', async () => {
  const pair = await start((socket) => answerLikeOdoo(socket, printResult('[]')));
  const warnings: string[] = [];
  const collect = (warning: Error) => warnings.push(warning.name);
  process.on('warning', collect);
  const read = (timeout: number) => connect(pair, { timeout }).model('res.partner').read([1]);
  for (const timeout of [0, -1, Number.NaN, '5000' as unknown as number]) {
    expect(await catchError(read(timeout))).toMatchObject({ type: 'usage', retryable: false });
    const download = connect(pair).model('ir.attachment').download(1, 'datas', { timeout });
    expect(await catchError(download)).toMatchObject({ type: 'usage' });
  }
  expect(await catchError(read(0.001))).toMatchObject({ type: 'client_timeout' });
  expect(await read(LONGER_THAN_A_TIMER_MS)).toEqual([]);
  const attachments = connect(pair).model('ir.attachment');
  const file = attachments.download(1, 'datas', { timeout: LONGER_THAN_A_TIMER_MS });
  expect(await catchError(file)).toMatchObject({ type: 'record_missing' });
  // Node emits warnings in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', collect);
  expect(warnings).toEqual([]);
});

test('the proxy gets the time limit, so that its own answer arrives', async () => {
  const pair = await start(() => {});
  let askedSeconds = 0;
  const client = connect(pair, {
    fetch: (url, init) => {
      const headers = { ...(init.headers as Record<string, string>) };
      askedSeconds = Number(headers['x-request-timeout']);
      // With a shorter limit, the proxy ends the call early enough that its answer arrives before the client's own
      // limit.
      headers['x-request-timeout'] = '1';
      return fetch(url, { ...init, headers });
    },
  });
  const error = await catchError(client.model('res.partner').update(1, {}, { timeout: ENDLESS_MS }));
  expect(askedSeconds * 1000).toBeGreaterThan(ENDLESS_MS / 2);
  expect(askedSeconds * 1000).toBeLessThan(ENDLESS_MS);
  expect(error).toMatchObject({ type: 'upstream_timeout', outcome: 'unknown', status: 504 });
});

test('a signal ends a call and the wait for a retry, with its reason', async () => {
  const pair = await start((socket) => {
    socket.end('HTTP/1.0 503 Service Unavailable\r\nRetry-After: 300\r\nContent-Length: 2\r\n\r\nno');
  });
  const reason = new Error('enough');
  const controller = new AbortController();
  const hooks = { onRetry: () => void passTurns().then(() => controller.abort(reason)) };
  const { signal } = controller;
  const partners = connect(pair, { hooks, timeout: ENDLESS_MS }).model('res.partner');
  await expect(partners.read([1], {}, { signal })).rejects.toBe(reason);
  await expect(connect(pair).model('res.partner').read([1], {}, { signal })).rejects.toBe(reason);
  const silent = await start(() => {});
  const running = new AbortController();
  const call = connect(silent).model('res.partner').read([1], {}, { signal: running.signal });
  await expect.poll(() => silent.upstream.requests.length).toBe(1);
  running.abort(reason);
  await expect(call).rejects.toBe(reason);
});

test('hooks see each attempt, can add headers, and see no key and no value', async () => {
  const pair = await start(after((socket) => answerLikeOdoo(socket, ROLLED_BACK)));
  const seen: unknown[] = [];
  const sent: Headers[] = [];
  const client = connect(pair, {
    fetch: (url, init) => {
      sent.push(new Headers(init.headers));
      return fetch(url, init);
    },
    hooks: {
      onRequest(info) {
        seen.push(structuredClone(info));
        info.headers['traceparent'] = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
        throw new Error('a fault of a logger');
      },
      onResponse: ({ error, ...info }) => seen.push({ ...info, type: (error as ErpProxyError | null)?.type }),
      onRetry: ({ error: _, ...info }) => seen.push(info),
    },
  });
  await client.model('res.partner').update(1, { name: 'a value' });
  const calls = [{ model: 'res.partner', action: 'write' }];
  expect(seen).toMatchObject([
    { calls, attempt: 1, headers: {} },
    { calls, attempt: 1, status: 200, type: 'concurrency_conflict', durationMs: expect.any(Number) },
    { calls, attempt: 1, delayMs: expect.any(Number) },
    { calls, attempt: 2, headers: {} },
    { calls, attempt: 2, status: 200, timing: expect.stringContaining('upstream') },
  ]);
  expect(JSON.stringify(seen)).not.toMatch(new RegExp(`${pair.proxy.key}|${API_KEY}|a value`));
  expect(sent[1]?.get('traceparent')).toMatch(/^00-/);
  expect(sent[1]?.get('idempotency-key')).toBe(sent[0]?.get('idempotency-key'));
});

test('an answer of another server is an error, and a redirect is not followed', async () => {
  const paths: unknown[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url);
    const isRedirect = request.url?.startsWith('/redirect');
    response.writeHead(isRedirect ? 302 : 502, { location: '/elsewhere' }).end('<html>Bad Gateway</html>');
  });
  const port = await listenOnFreePort(server);
  closeAfterTest(server);
  const options = { key: 'ep_x', instance: 'prod', retries: 1 };
  const read = (url: string) =>
    createClient({ ...options, url })
      .model('res.partner')
      .read([1]);
  expect(await catchError(read(`http://127.0.0.1:${port}`))).toMatchObject({
    type: 'invalid_answer',
    status: 502,
    retryable: true,
  });
  expect(paths).toHaveLength(2);
  const redirected = await catchError(read(`http://127.0.0.1:${port}/redirect/`));
  expect(redirected).toMatchObject({ type: 'invalid_answer', retryable: false });
  expect(paths.slice(2)).toEqual(['/redirect/api/erp/execute']);
});

test('values that the proxy could not normalize are an error, not values of another form', async () => {
  const pair = await start((socket, { body }) => {
    const isQuestion = body.toString().includes('fields_get');
    answerLikeOdoo(socket, printResult(isQuestion ? '"no fields"' : '[{"id": 1, "parent_id": [2, "B"]}]'));
  });
  const instance = { url: pair.upstream.url, db: 'prod', userId: 2, apiKey: API_KEY };
  const client = createClient({ url: pair.proxy.url, key: pair.proxy.key, instance, values: 'normalized' });
  const error = await catchError(client.model('res.partner').read([1], { fields: ['parent_id'] }));
  expect(error).toMatchObject({ type: 'invalid_answer', retryable: false });
  expect(error.message).toMatch(/are not normalized/);
});

test('a proxy that is too old to normalize values: reads of a batch are errors, and its writes are done', async () => {
  const pair = await start((socket) =>
    answerLikeOdoo(socket, printResult('[{"id": 1, "parent_id": [2, "B"]}]')),
  );
  const client = createClient({
    url: pair.proxy.url,
    key: pair.proxy.key,
    instance: { url: pair.upstream.url, db: 'prod', userId: 2, apiKey: API_KEY },
    values: 'normalized',
    fetch: (url, { headers, ...init }) => {
      const { prefer: _, ...known } = headers as Record<string, string>;
      return fetch(url, { ...init, headers: known });
    },
  });
  const [read, write] = await client.batch([
    { action: 'read', model_id: 'res.partner', params: [[1]] },
    { action: 'write', model_id: 'res.partner', params: [[1], { name: 'A' }] },
  ]);
  expect(read).toMatchObject({ status: 'rejected', reason: { type: 'invalid_answer' } });
  expect(write).toMatchObject({ status: 'fulfilled' });
});

test('a call that needs an approval tells its id, and runs with it once', async () => {
  const pair = await start((socket) => answerLikeOdoo(socket, printResult('true')));
  const { app } = pair.proxy;
  const policy = {
    origins: [pair.upstream.url],
    models: { 'res.partner': ['*'] },
    approve: { 'res.partner': ['unlink'] },
  };
  const { key } = await app.keys.create({ name: 'agent', policy });
  const partners = connect(pair, { key }).model('res.partner');
  const error = await catchError(partners.delete([7]));
  expect(error).toMatchObject({ type: 'approval_required', code: -32018, retryable: false });
  const { approval = '' } = error;
  await app.adminFor(TEST_ACTOR).approveCall(approval);
  await partners.delete([7], { approval: [approval, '0'.repeat(24)] });
  expect(await catchError(partners.delete([7], { approval }))).toMatchObject({
    type: 'policy_denied',
    approval: undefined,
  });
  // Filtered, because the proxy has also read the record's name for the administrator.
  const deletions = pair.upstream.requests.filter(({ body }) => body.includes('"unlink"'));
  expect(deletions).toHaveLength(1);
});
