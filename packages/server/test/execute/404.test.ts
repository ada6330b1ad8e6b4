/** HTTP 404: no route has this path. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { expectError, printCall } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

test.each([
  ['GET', '/index.html'],
  ['GET', '/api'],
  ['POST', '/api/erp/execute/'],
  ['POST', '/api/erp/Execute'],
  ['POST', '/api/erp/execute2'],
  ['POST', '/api//erp/execute'],
  ['POST', '/jsonrpc'],
  ['DELETE', '/nowhere'],
  ['GET', '/healthz/x'],
  ['GET', '/..%2f..%2fetc/passwd'],
  ['GET', '/a*b'],
  ['POST', '/:id(x'],
])('route_not_found: %s %s', async (method, path) => {
  const body = method === 'POST' ? printCall(pair.upstream.url) : undefined;
  const headers = { 'x-proxy-api': pair.proxy.key, 'content-type': 'application/json' };
  const answer = await send(pair.proxy.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  expectError(answer, {
    status: 404,
    code: -32601,
    type: 'route_not_found',
    says: /POST \/api\/erp\/execute/,
  });
  expect(pair.upstream.connections()).toBe(0);
});

test.each(['GET', 'POST'])('route_not_found: %s of a path that cannot be decoded', async (method) => {
  const answer = await send(`${pair.proxy.url}/%zz`, { method, headers: { 'x-request-id': 'mine' } });
  expectError(answer, { status: 404, code: -32601, type: 'route_not_found', says: /no such route/ });
  expect(answer.headers['x-request-id']).toBe('mine');
});
