/** HTTP 405: the route exists, but not with this method. `allow` lists its methods. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Proxy as ErpProxy, send, startProxy } from '../harness.ts';
import { expectError } from './expectations.ts';

let proxy: ErpProxy;
beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy.close());

test.each([
  ['GET', '/api/erp/execute', 'POST'],
  ['GET', '/api/erp/execute?id=1', 'POST'],
  ['PUT', '/api/erp/execute', 'POST'],
  ['PATCH', '/api/erp/execute', 'POST'],
  ['DELETE', '/api/erp/execute', 'POST'],
  ['OPTIONS', '/api/erp/execute', 'POST'],
  ['POST', '/healthz', 'GET, HEAD'],
  ['PUT', '/readyz', 'GET, HEAD'],
  ['DELETE', '/metrics', 'GET, HEAD'],
])('method_not_allowed: %s %s', async (method, path, allow) => {
  const answer = await send(proxy.url + path, { method });
  expectError(answer, { status: 405, code: -32601, type: 'method_not_allowed', says: /takes (GET|POST)/ });
  expect(answer.headers.allow).toBe(allow);
});

test('method_not_allowed: HEAD, without a body', async () => {
  const answer = await send(`${proxy.url}/api/erp/execute`, { method: 'HEAD' });
  expect(answer.status).toBe(405);
  expect(answer.headers.allow).toBe('POST');
  expect(answer.body).toHaveLength(0);
});
