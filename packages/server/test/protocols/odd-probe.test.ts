/** A server whose answer to the question for its version is odd is still called, and a read still has its second try. */
import { expect, test } from 'vitest';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, makeCall, printResult } from '../scripted-upstream.ts';

const AUTO = { settings: { 'upstream.protocol': 'auto' } };

test('calls a server over /jsonrpc whose answer for the version is too large to be one', async () => {
  const large = printResult(`"${'x'.repeat(2 * 1024 * 1024)}"`);
  const { proxy, upstream, close } = await startPair((socket) => answerLikeOdoo(socket, large), AUTO);
  const answer = await proxy.post(makeCall(upstream.url));
  expect(answer.status).toBe(200);
  expect(answer.body.length).toBeGreaterThan(2 * 1024 * 1024);
  await close();
});

test('asks once more where the first connection died before any answer', async () => {
  const { proxy, upstream, close } = await startPair((socket, _request, index) => {
    if (index === 0) socket.resetAndDestroy();
    else answerLikeOdoo(socket, printResult('[1]'));
  }, AUTO);
  const answer = await proxy.call(makeCall(upstream.url));
  expect(answer.json).toEqual({ jsonrpc: '2.0', id: 1, result: [1] });
  expect(upstream.requests).toHaveLength(3);
  await close();
});
