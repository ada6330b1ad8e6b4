/** HTTP 409: the outcome of an earlier attempt with the same idempotency key. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, printResult, type Script } from '../scripted-upstream.ts';
import { expectError, printCall } from './expectations.ts';

let pair: Pair;

async function start(script: Script) {
  pair = closeAfterTest(await startPair(script));
}

const send = (changes: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  pair.proxy.post(printCall(pair.upstream.url, { action: '"create"', params: '[{}]', ...changes }), {
    'idempotency-key': 'order 17',
    ...headers,
  });

test('idempotency_conflict: another body with the same key', async () => {
  await start((socket) => answerLikeOdoo(socket, printResult('1')));
  expect((await send()).status).toBe(200);
  const answer = await send({ params: '[{"name":"b"}]' });
  expectError(answer, {
    status: 409,
    code: -32014,
    type: 'idempotency_conflict',
    retryable: false,
    id: 1,
    path: 'idempotency-key',
    says: /used for another call.*was not run/,
  });
  expect(pair.upstream.requests).toHaveLength(1);
});

test('idempotency_conflict: the first call is still running', async () => {
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>();
  await start(async (socket) => {
    ask();
    await mayAnswer;
    answerLikeOdoo(socket, printResult('1'));
  });
  const first = send();
  await isAsked;
  const answer = await send();
  expectError(answer, {
    status: 409,
    code: -32014,
    type: 'idempotency_conflict',
    retryable: true,
    id: 1,
    path: 'idempotency-key',
    says: /still running/,
  });
  expect(answer.headers['retry-after']).toBe('1');
  letAnswer();
  expect((await first).status).toBe(200);
  expect((await send()).status).toBe(200);
  expect(pair.upstream.requests).toHaveLength(1);
});

test('outcome_unknown: the first attempt was sent and got no answer', async () => {
  await start((socket) => void socket.destroy());
  expect((await send()).status).toBe(502);
  expectError(await send(), {
    status: 409,
    code: -32015,
    type: 'outcome_unknown',
    retryable: false,
    id: 1,
    path: 'idempotency-key',
    says: /cut off: Odoo may have run it/,
  });
  expect(pair.upstream.requests).toHaveLength(1);
});
