/**
 * Pieces of a converted result are lent to the connection of its caller, and given back however the answer ends.
 * fast-check prints the seed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { shareConversionMemory } from '../../src/odoo/values/conversion-memory.ts';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, makeCall, printResult } from '../scripted-upstream.ts';
import { startCaller } from '../stream/caller.ts';
import { takeAnswer, unpack } from '../take-answer.ts';

const RECORD = '{"id": 1, "parent_id": false, "when": "2026-10-21 01:31:00", "name": "A contact"}';
const CONVERTED = '{"id": 1, "parent_id": null, "when": "2026-10-21T01:31:00Z", "name": "A contact"}';
const TYPES = JSON.stringify({
  id: { type: 'integer' },
  parent_id: { type: 'many2one', relation: 'res.partner' },
  when: { type: 'datetime' },
  name: { type: 'char' },
});
const RECORDS = 4000;
/** More than the operating system buffers for a caller that does not read. */
const MANY_RECORDS = 200_000;
const print = (record: string, count = RECORDS) => `[${Array(count).fill(record).join(', ')}]`;
const printExpected = (count = RECORDS) => `{"jsonrpc":"2.0","id":1,"result":${print(CONVERTED, count)}}`;
const RESULT = printResult(print(RECORD));
const LONG_RESULT = printResult(print(RECORD, MANY_RECORDS));
const EXPECTED = printExpected();

const pair = await startPair(async (socket, { body }) => {
  if (body.includes('"fields_get"')) answerLikeOdoo(socket, printResult(TYPES));
  else if (body.includes('"broken"')) {
    socket.write(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${RESULT.slice(0, 200_000)}`);
    await sleep(20);
    socket.resetAndDestroy();
  } else answerLikeOdoo(socket, body.includes('"long"') ? LONG_RESULT : RESULT);
});
afterAll(() => pair.close());

/** On a database of its own, whose breaker may open. */
const BROKEN = {
  keyword: { context: { broken: 1 } },
  erp_instance: { url: pair.upstream.url, db: 'broken', user_id: 2, api_key: 'upstream-key-0123456789' },
};

type Kind = 'reads' | 'reads late' | 'leaves' | 'gets broken answer' | 'batch';

async function call(kind: Kind, { encoding, bytes }: { encoding: string; bytes: number }): Promise<void> {
  const isBroken = kind === 'gets broken answer';
  const one = makeCall(pair.upstream.url, isBroken ? BROKEN : {});
  const caller = startCaller(pair.proxy, kind === 'batch' ? [one, one] : one, {
    headers: {
      prefer: 'values=normalized',
      connection: 'close',
      'cache-control': 'no-cache',
      ...(encoding === '' ? {} : { 'accept-encoding': encoding }),
    },
    isPaused: kind === 'reads late',
  });
  if (kind === 'reads late') await sleep(bytes % 50).then(() => caller.socket.resume());
  if (kind === 'leaves') {
    await caller.until((received) => received.length > bytes % (encoding === '' ? 300_000 : 1000), 10_000);
    caller.socket.destroy();
  }
  await caller.ended;
  if (kind === 'leaves' || isBroken) return;
  const answer = takeAnswer(caller.received);
  expect(answer?.isWhole).toBe(true);
  const text = unpack(encoding, answer!.body).toString();
  expect(text === (kind === 'batch' ? `[${EXPECTED},${EXPECTED}]` : EXPECTED)).toBe(true);
}

test('all are given back after random callers', { timeout: 60_000 }, async () => {
  const caller = fc.record({
    kind: fc.constantFrom<Kind>('reads', 'reads', 'reads late', 'leaves', 'gets broken answer', 'batch'),
    encoding: fc.constantFrom('', '', 'gzip'),
    bytes: fc.nat(1_000_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(caller, { minLength: 1, maxLength: 12 }), async (callers) => {
      await Promise.all(callers.map(({ kind, ...options }) => call(kind, options)));
      await expect.poll(() => shareConversionMemory().lentOutputs).toBe(0);
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

test('pieces are lent while an answer is sent', async () => {
  const call = makeCall(pair.upstream.url, { keyword: { context: { long: 1 } } });
  const caller = startCaller(pair.proxy, call, {
    headers: { prefer: 'values=normalized', connection: 'close' },
    isPaused: true,
  });
  await expect.poll(() => shareConversionMemory().lentOutputs).toBeGreaterThan(0);
  caller.socket.resume();
  await caller.ended;
  expect(takeAnswer(caller.received)?.body.toString() === printExpected(MANY_RECORDS)).toBe(true);
  await expect.poll(() => shareConversionMemory().lentOutputs).toBe(0);
});
