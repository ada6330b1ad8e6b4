import { expect, test } from 'vitest';
import { closeAfterTest } from './close-after-test.ts';
import { startPair } from './pair.ts';
import { answerLikeOdoo, makeCall, printResult } from './scripted-upstream.ts';

test('runs read and keeps the bytes of the result', async () => {
  const { proxy, upstream } = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, printResult('[{"id": 1, "x": 1.0}]'))),
  );
  const answer = await proxy.post(makeCall(upstream.url));
  expect(answer.body.toString()).toBe('{"jsonrpc":"2.0","id":1,"result":[{"id": 1, "x": 1.0}]}');
  expect(answer.status).toBe(200);
});
