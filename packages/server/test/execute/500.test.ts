/** HTTP 500: an internal error of the proxy. The caller does not see its cause, the operator does. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { expectError } from './expectations.ts';

test('internal: the policy of the key cannot be read', async () => {
  const proxy = closeAfterTest(await startProxy());
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
  // The process keeps running.
  expect((await proxy.post('{}')).status).toBe(500);
});
