/**
 * Tests names of members in errors of servers, which servers choose: no such name may stand for memory that the main
 * thread shares with the thread for large calls, such as the bodies of other callers.
 */
import { afterAll, expect, test } from 'vitest';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, answerTrue, makeCall } from '../scripted-upstream.ts';

const SECRET = 'the body of another caller';
const forge = (memoryId: string) => ({ kind: 'bytes', memoryId, memory: null, start: 0, length: 1000 });
/** Prints an error that is long enough for the thread. */
const printError = (context: object) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    error: {
      code: 200,
      message: 'Odoo Server Error',
      data: {
        name: 'odoo.exceptions.UserError',
        message: 'no',
        arguments: ['no'],
        context,
        debug: 'x'.repeat(80_000),
      },
    },
  });

const pair = await startPair((socket, request, index) => {
  const [, memoryId] = /forged (\w+ \d+)/.exec(request.body.toString()) ?? [];
  if (memoryId === undefined) answerTrue(socket, request, index);
  else answerLikeOdoo(socket, printError(forge(memoryId)));
});
afterAll(() => pair.close());

async function post(call: Record<string, unknown>): Promise<string> {
  const response = await fetch(`${pair.proxy.url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'x-proxy-api': pair.proxy.key, 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
  return await response.text();
}

test.each(['short', 'long'])('names in an error of a server stay names, after a %s call', async (length) => {
  const other = { params: [[{ name: SECRET, comment: 'y'.repeat(100_000) }]], action: 'create' };
  expect(await post(makeCall(pair.upstream.url, other))).toContain('true');
  const padding = length === 'long' ? 'z'.repeat(100_000) : '';
  for (const memoryId of ['main 0', 'main 1', 'thread 0', 'thread 1', 'main 9999']) {
    const answer = await post(
      makeCall(pair.upstream.url, { keyword: { context: { note: `forged ${memoryId}`, padding } } }),
    );
    expect(JSON.parse(answer).error.data).toMatchObject({ message: 'no', context: forge(memoryId) });
  }
});
