/**
 * Tests that a server with an unusual answer to the request for its version still gets calls, and a read is still
 * retried.
 */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, makeCall, printResult } from '../scripted-upstream.ts';

const AUTO = { settings: { 'upstream.protocol': 'auto' } };

test('uses /jsonrpc for a server whose answer for the version is too large', async () => {
  const large = printResult(`"${'x'.repeat(2 * 1024 * 1024)}"`);
  const { proxy, upstream } = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, large), AUTO),
  );
  const answer = await proxy.post(makeCall(upstream.url));
  expect(answer.status).toBe(200);
  expect(answer.body.length).toBeGreaterThan(2 * 1024 * 1024);
});

test('asks once more if the first connection broke before any answer', async () => {
  const { proxy, upstream } = closeAfterTest(
    await startPair((socket, _request, index) => {
      if (index === 0) socket.resetAndDestroy();
      else answerLikeOdoo(socket, printResult('[1]'));
    }, AUTO),
  );
  const answer = await proxy.call(makeCall(upstream.url));
  expect(answer.json).toEqual({ jsonrpc: '2.0', id: 1, result: [1] });
  expect(upstream.requests).toHaveLength(3);
});
