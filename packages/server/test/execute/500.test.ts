/** HTTP 500: a fault of the proxy's own shows nothing of its cause to the caller, and all of it to the operator. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startProxy } from '../harness.ts';
import { expectError } from './expectations.ts';

let close = async () => {};
afterEach(() => close());

it('internal: the key store fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'erp-proxy-test-'));
  const proxy = await startProxy({ settings: { 'store.url': `sqlite:${join(folder, 'keys.db')}` } });
  close = async () => {
    await proxy.app.server.close();
    await rm(folder, { recursive: true });
  };
  await proxy.app.store.close();
  const answer = await proxy.post('{}', { 'x-request-id': 'trace-me' });
  expectError(answer, {
    status: 500,
    code: -32603,
    type: 'internal',
    says: /tell its operator the x-request-id/,
  });
  expect(answer.body.toString()).not.toMatch(/sqlite|database|keys\.db|at \w+ \(/i);
  expect(proxy.log.find((line) => line['requestId'] === 'trace-me' && 'err' in line)).toMatchObject({
    level: 50,
    msg: 'internal error',
  });
  // The process lives on, and says that it takes no traffic.
  expect((await proxy.post('{}')).status).toBe(500);
});
