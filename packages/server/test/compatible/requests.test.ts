/** Tests what clients of ODXProxy send: one test for each form. */
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { makeSettings } from '../harness.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { passTurns } from '../time.ts';
import { startOdoo, startScripted } from './gateway.ts';

const EXECUTE = '/api/odoo/execute';

describe.each([18, 19, 22] as const)('in front of Odoo %i', (version) => {
  test('keyword may be absent, null, {}, [], or have only a context, which may be []', async () => {
    const { post, makeCall } = await startOdoo(version);
    for (const keyword of [
      undefined,
      null,
      {},
      [],
      { context: { lang: 'en_US' } },
      { context: {} },
      { context: [] },
      { context: null },
    ]) {
      const { json } = await post(EXECUTE, makeCall({ keyword }));
      expect(json, JSON.stringify(keyword)).toEqual({
        jsonrpc: '2.0',
        id: '01JD8PXM3R',
        result: expect.any(Number),
      });
    }
  });

  test('params may be absent or null', async () => {
    const { post, makeCall } = await startOdoo(version);
    for (const params of [undefined, null]) {
      const call = makeCall({ action: 'fields_get', params, keyword: { attributes: ['type'] } });
      expect((await post(EXECUTE, call)).json.result.name).toEqual({ type: 'char' });
    }
  });

  test('fn_name may be null, or a name with call_method', async () => {
    const { post, makeCall } = await startOdoo(version);
    expect((await post(EXECUTE, makeCall({ fn_name: null }))).json.error).toBeUndefined();
    const { json } = await post(EXECUTE, makeCall({ action: 'call_method', fn_name: 'search_count' }));
    expect(json.result).toEqual(expect.any(Number));
  });

  test('an id may be a UUID, a ULID, hexadecimal, or "1", "2"; it is returned unchanged', async () => {
    const { post, makeCall } = await startOdoo(version);
    for (const id of [
      'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
      '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      '9f86d081884c7d65',
      '1',
      '2',
    ]) {
      expect((await post(EXECUTE, makeCall({ id }))).json.id).toBe(id);
    }
  });

  test('search_count may have fields, order and offset, which are dropped, also with call_method', async () => {
    const { post, makeCall } = await startOdoo(version);
    const plain = await post(EXECUTE, makeCall());
    const keyword = { fields: ['name'], order: 'id', offset: 0, context: { lang: 'en_US' } };
    for (const changes of [{ keyword }, { keyword, action: 'call_method', fn_name: 'search_count' }]) {
      expect((await post(EXECUTE, makeCall(changes))).json).toEqual(plain.json);
    }
  });

  test('read may have its fields as second positional argument, or in keyword', async () => {
    const { post, makeCall } = await startOdoo(version);
    const positional = await post(EXECUTE, makeCall({ action: 'read', params: [[1], ['name']] }));
    const named = await post(
      EXECUTE,
      makeCall({ action: 'read', params: [[1]], keyword: { fields: ['name'] } }),
    );
    expect(Object.keys(positional.json.result[0])).toEqual(['id', 'name']);
    expect(named.body.equals(positional.body)).toBe(true);
  });
});

test.each(['[]', 'null', 'false'])(
  'a context of %s is also no context if Odoo 22 gets the arguments by name',
  async (context) => {
    const { post, upstream, call } = await startScripted(
      (socket, { head }) => {
        if (head.startsWith('GET /doc-bearer/')) answerLikeOdoo(socket, '<html>', '404 Not Found');
        else answerLikeOdoo(socket, head.includes('/context_get') ? '{"uid": 2}' : 'true');
      },
      { settings: { 'upstream.protocol': 'json2' } },
    );
    const keyword = { ids: [1], note: 'x', context: JSON.parse(context) };
    const { json } = await post(EXECUTE, { ...call, action: 'x_approve', params: [], keyword });
    expect(json.result).toBe(true);
    expect(JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')).toEqual({ ids: [1], note: 'x' });
  },
);

test('arguments are dropped only from search_count, and never on our own route', async () => {
  const { post, proxy, upstream, call } = await startScripted((socket) =>
    answerLikeOdoo(socket, printResult('1')),
  );
  const keyword = { fields: ['name'], order: 'id', limit: 5, offset: 0 };
  const sent = () => JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '').params.args[6];
  await post(EXECUTE, { ...call, action: 'search_count', params: [[]], keyword });
  expect(sent()).toEqual({ limit: 5 });
  await post(EXECUTE, { ...call, action: 'search_read', params: [[]], keyword });
  expect(sent()).toEqual(keyword);
  const { odoo_instance, ...rest } = call;
  await proxy.call({ ...rest, action: 'search_count', params: [[]], keyword, erp_instance: odoo_instance });
  expect(sent()).toEqual(keyword);
});

const DEFAULT_MS = 300;

test.each([
  ['1', 60_000, 1_000],
  ['0', DEFAULT_MS, DEFAULT_MS],
  ['soon', DEFAULT_MS, DEFAULT_MS],
  [null, DEFAULT_MS, DEFAULT_MS],
])(
  'x-request-timeout %j with a default of %i ms: the time limit is %i ms',
  async (header, timeoutMs, limitMs) => {
    const sockets: Socket[] = [];
    const { post, call } = await startScripted((socket) => void sockets.push(socket), {
      settings: { 'upstream.timeoutMs': String(timeoutMs) },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    closeAfterTest({ close: () => vi.useRealTimers() });
    const postAndWait = async (ms: number) => {
      const posted = post(EXECUTE, call, { 'x-request-timeout': header });
      // Unlike `expect.poll`, this does not move the clock.
      while (sockets.length === 0) await passTurns();
      await vi.advanceTimersByTimeAsync(ms);
      return { posted, socket: sockets.pop() as Socket };
    };
    const inTime = await postAndWait(limitMs - 1);
    answerLikeOdoo(inTime.socket, printResult('[]'));
    expect((await inTime.posted).json.result).toEqual([]);
    const late = await postAndWait(limitMs);
    const { status, json } = await late.posted;
    expect([status, json.error.code]).toEqual([504, -32003]);
  },
);

test('the default time limit is 15 seconds', () => {
  expect(makeSettings().upstream.timeoutMs).toBe(15_000);
});

test('runs 40 calls at once over one connection pool', async () => {
  const { proxy, makeCall } = await startOdoo(19);
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, index) => callOver(agent, proxy, makeCall({ id: String(index) }))),
  );
  agent.destroy();
  expect(results.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, index) => String(index)));
  expect(results.every(({ result }) => typeof result === 'number')).toBe(true);
});

test('serves three calls on one connection', async () => {
  const { proxy, makeCall } = await startOdoo(18);
  let connections = 0;
  proxy.app.server.server.on('connection', () => connections++);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let index = 0; index < 3; index++) await callOver(agent, proxy, makeCall());
  agent.destroy();
  expect(connections).toBe(1);
});

test('does not limit the rows of a call without a limit', async () => {
  const rows = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id })));
  const { post, upstream, call } = await startScripted((socket) => answerLikeOdoo(socket, printResult(rows)));
  const { json } = await post(EXECUTE, { ...call, action: 'search_read', params: [[]] });
  expect(json.result).toHaveLength(20_000);
  expect(upstream.requests[0]?.body.toString()).not.toContain('limit');
});

function callOver(
  agent: Agent,
  { url, key }: { url: string; key: string },
  body: unknown,
): Promise<{ id: unknown; result?: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    request(url + EXECUTE, { method: 'POST', agent, headers }, (response) => {
      readJson(response).then((value) => resolve(value as { id: unknown }), reject);
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });
}
