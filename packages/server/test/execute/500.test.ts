/** HTTP 500: a fault of the proxy's own shows nothing of its cause to the caller, and all of it to the operator. */
import { afterEach, expect, test } from 'vitest';
import { startProxy } from '../harness.ts';
import { expectError } from './expectations.ts';

let close = async () => {};
afterEach(() => close());

test('internal: the policy of the key cannot be read', async () => {
  const proxy = await startProxy();
  close = () => proxy.close();
  const id = proxy.key.split('_')[1] as string;
  await proxy.app.store.keys.update(id, 1, { policy: '{"sees":"all"}' });
  const answer = await proxy.post('{}', { 'x-request-id': 'trace-me' });
  expectError(answer, {
    status: 500,
    code: -32603,
    type: 'internal',
    says: /policy of this key cannot be read; tell its operator the x-request-id .* Nothing was sent/,
  });
  expect(answer.body.toString()).not.toMatch(/sees|at \w+ \(/i);
  expect(proxy.log.find((line) => line['requestId'] === 'trace-me')).toMatchObject({
    outcome: 'internal',
    detail: expect.stringMatching(/policy of key \w+ cannot be read .*sees.*keys update/),
  });
  // The process lives on.
  expect((await proxy.post('{}')).status).toBe(500);
});
