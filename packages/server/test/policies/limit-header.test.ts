/**
 * Tests the header `erp-proxy-limit`: the policy's `limit_max` replaced the limit of the caller, and may have cut the
 * result.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printCall, printInstance, UPSTREAM_KEY } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';

const MAX = 10;
let pair: Pair;
let limited: Record<string, string>;
beforeAll(async () => {
  pair = await startPair();
  const { key } = await pair.proxy.app.keys.create({
    name: 'limited',
    policy: {
      origins: [pair.upstream.url],
      models: { '*': ['*'] },
      limit_max: MAX,
      cors_origins: ['https://shop.example.com'],
    },
  });
  limited = { 'x-proxy-api': key };
});
afterAll(() => pair.close());

const ids = (count: number) => JSON.stringify([Array.from({ length: count }, (_, index) => index + 1)]);
const print = (action: string, params: string, keyword = '{}') =>
  printCall('', {
    action: JSON.stringify(action),
    params,
    keyword,
    erp_instance: printInstance(pair.upstream.url),
  });

const readLimit = async (body: string, headers = limited) => {
  const answer = await pair.proxy.post(body, headers);
  expect(answer.status).toBe(200);
  return answer.headers['erp-proxy-limit'];
};

test.each<[string, string, string, string, string | undefined]>([
  ['a search without a limit', 'search', '[[]]', '{}', '10'],
  ['a search that asks for all', 'search_read', '[[]]', '{"limit":0}', '10'],
  ['a search for more', 'search_read', '[[]]', '{"limit":11}', '10'],
  ['a search for more, by position', 'search', '[[], 0, 11]', '{}', '10'],
  ['a search for as many', 'search', '[[]]', '{"limit":10}', undefined],
  ['a search for fewer, by position', 'search', '[[], 0, 3]', '{}', undefined],
  ['a read of more ids', 'read', ids(11), '{}', '10'],
  ['a read of as many ids', 'read', ids(10), '{}', undefined],
  ['a read of more ids, of which the caller wants fewer', 'read', ids(11), '{"limit":3}', undefined],
  ['a count', 'search_count', '[[]]', '{}', undefined],
  ['a write', 'write', '[[1], {"name": "x"}]', '{}', undefined],
])('%s', async (_what, action, params, keyword, expected) => {
  expect(await readLimit(print(action, params, keyword))).toBe(expected);
  expect(await readLimit(print(action, params, keyword), { 'x-proxy-api': pair.proxy.key })).toBeUndefined();
});

test('is on a batch if a limit of any of its calls was replaced', async () => {
  const within = print('search', '[[]]', '{"limit":3}');
  expect(await readLimit(`[${within},${within}]`)).toBeUndefined();
  expect(await readLimit(`[${within},{},${print('search', '[[]]')}]`)).toBe('10');
});

test('is on a repeated answer of an idempotency key', async () => {
  const headers = { ...limited, 'idempotency-key': 'one' };
  for (const replayed of [undefined, 'true']) {
    const answer = await pair.proxy.post(print('search', '[[]]'), headers);
    expect(answer.headers['idempotency-replayed']).toBe(replayed);
    expect(answer.headers['erp-proxy-limit']).toBe('10');
  }
});

test('is not on the answer to a denied call', async () => {
  const answer = await pair.proxy.post(print('authenticate', '[]'), limited);
  expect(answer.headers['erp-proxy-limit']).toBeUndefined();
});

test('is on the routes of ODXProxy too', async () => {
  const instance = { url: pair.upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY };
  const { user_id: _, ...json2Instance } = instance;
  const call = { id: '1', model_id: 'res.partner' };
  const bodies: [string, object][] = [
    ['/api/odoo/execute', { ...call, action: 'search', params: [[]], odoo_instance: instance }],
    ['/v2/odoo/execute', { ...call, method: 'search', kwargs: { domain: [] }, odoo_instance: json2Instance }],
    [
      '/v2/odoo/execute',
      {
        ...call,
        method: 'read',
        kwargs: { ids: Array.from({ length: 11 }, () => 1) },
        odoo_instance: json2Instance,
      },
    ],
  ];
  for (const [path, body] of bodies) {
    const answer = await send(pair.proxy.url + path, {
      method: 'POST',
      headers: { ...limited, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.headers['erp-proxy-limit']).toBe('10');
  }
});

test('can be read by a web page', async () => {
  const answer = await pair.proxy.post(print('search', '[[]]'), {
    ...limited,
    origin: 'https://shop.example.com',
  });
  expect(answer.headers['erp-proxy-limit']).toBe('10');
  expect(answer.headers['access-control-expose-headers']).toContain('erp-proxy-limit');
});
