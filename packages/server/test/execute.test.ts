import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Proxy as RunningProxy, startProxy } from './harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from './scripted-upstream.ts';

let upstream: ScriptedUpstream;
let proxy: RunningProxy;
beforeAll(async () => {
  upstream = await startUpstream((socket) => answerLikeOdoo(socket, printResult('[{"id": 1, "x": 1.0}]')));
  proxy = await startProxy({ allow: [upstream.url] });
});
afterAll(async () => {
  await proxy.close();
  await upstream.close();
});

test('runs read and keeps the bytes of the result', async () => {
  const answer = await proxy.post(makeCall(upstream.url));
  expect(answer.body.toString()).toBe('{"jsonrpc":"2.0","id":1,"result":[{"id": 1, "x": 1.0}]}');
  expect(answer.status).toBe(200);
});
