/** Tests that answers of a batch that are complete before earlier ones are buffered up to a bound. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, makeCall, printResult, type Script } from '../scripted-upstream.ts';
import { expectToStay } from '../time.ts';
import { ODOO_HEAD, startPair } from './pair.ts';

const LARGE = `"${'x'.repeat(400_000)}"`;

test.each<[string, string]>([
  ['that is streamed', `${ODOO_HEAD}${LARGE}}`],
  ['that is read whole', `{"result": ${LARGE}, "jsonrpc": "2.0", "id": 1}`],
])(
  'further calls do not start while the buffered answers exceed their bound: a result %s',
  async (_, body) => {
    const letFirstGo = Promise.withResolvers<void>();
    const script: Script = async (socket, request, index) => {
      if (index === 0) return answerLikeOdoo(socket, printResult('true'));
      if (request.body.includes('"first"')) await letFirstGo.promise;
      answerLikeOdoo(socket, body);
    };
    const { proxy, upstream } = await startPair(script, { settings: { 'batch.concurrency': '4' } });
    // Until Odoo has accepted credentials once, calls with them wait for each other.
    await proxy.call(makeCall(upstream.url));
    const calls = Array.from({ length: 12 }, (_, id) =>
      makeCall(upstream.url, { id, model_id: id === 0 ? 'first' : 'other' }),
    );
    const answer = proxy.post(calls);
    await expect.poll(() => upstream.requests.length).toBe(5);
    await expectToStay(() => upstream.requests.length, 5);
    letFirstGo.resolve();
    const expected = calls.map(({ id }) => `{"jsonrpc":"2.0","id":${id},"result":${LARGE}}`).join(',');
    expect((await answer).body.toString()).toBe(`[${expected}]`);
  },
);
