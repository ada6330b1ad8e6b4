/** Tests for how long the calls of a batch count as running. A batch can get more time while they run. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { answerLikeOdoo, makeCall, printResult, startUpstream } from '../scripted-upstream.ts';

const DEFAULT_MS = 60_000;
/** The default time limit, the additional time of an attempt, and a little more. */
const PAST_DEFAULT_MS = DEFAULT_MS + 5000 + 500;
const SLOW_MS = 2 * PAST_DEFAULT_MS;

test('a call counts as running as long as its batch, even if a slow instance extended the batch after it was sent', async () => {
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      const text = body.toString();
      // The second call is answered before the call to the slow instance begins. The other calls are never answered.
      if (text.includes('"name":"second"')) answerLikeOdoo(socket, printResult('2'));
      if (text.includes('res.users')) answerLikeOdoo(socket, printResult('[]'));
    }),
  );
  let now = Date.now();
  const proxy = closeAfterTest(
    await startProxy({
      allow: [upstream.url],
      clock: () => now,
      settings: {
        'vault.masterKey': randomBytes(32).toString('base64'),
        'upstream.timeoutMs': String(DEFAULT_MS),
        'batch.concurrency': '2',
      },
    }),
  );
  await proxy.app.instances.add({
    name: 'slow',
    url: upstream.url,
    db: 'prod',
    user_id: 2,
    api_key: 'k'.repeat(40),
    timeout_ms: SLOW_MS,
  });
  const create = (name: string, more = {}) =>
    makeCall(upstream.url, { action: 'create', params: [{ name }], ...more });
  const batch = [create('first'), create('second'), create('third', { erp_instance: { name: 'slow' } })];
  const send = () => proxy.call(batch, { 'idempotency-key': 'order' });

  // The credentials are known, so that the first of several calls does not wait for others.
  expect((await proxy.call(create('second'))).status).toBe(200);
  void send().catch(() => {});
  await expect.poll(() => upstream.requests.filter(({ body }) => body.includes('"create"')).length).toBe(4);
  now += PAST_DEFAULT_MS;
  const retried = (await send()).json.map(
    ({ result, error }: Record<string, { code?: number }>) => error?.code ?? result,
  );
  expect(retried).toEqual([-32014, 2, -32014]);
});
