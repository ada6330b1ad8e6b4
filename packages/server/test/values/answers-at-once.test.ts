/**
 * Tests that answers which are converted at the same time keep their bytes, however other answers end. The next read of
 * any connection overwrites the bytes of a read. fast-check prints the seed.
 */
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { startPair } from '../pair.ts';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, makeCall, printResult, resetAfterReading } from '../scripted-upstream.ts';
import { startCaller } from '../stream/caller.ts';
import { takeAnswer, unpack } from '../take-answer.ts';
import { MOMENT_MS, passTurns, pause } from '../time.ts';

const printRecord = (name: string) =>
  `{"id": 1, "parent_id": false, "when": "2026-10-21 01:31:00", "name": "${name}"}`;
const printConverted = (name: string) =>
  `{"id": 1, "parent_id": null, "when": "2026-10-21T01:31:00Z", "name": "${name}"}`;
const TYPES = JSON.stringify({
  id: { type: 'integer' },
  parent_id: { type: 'many2one', relation: 'res.partner' },
  when: { type: 'datetime' },
  name: { type: 'char' },
});
/** Number of records that is more than the operating system buffers for a caller that does not read. */
const MANY = 200_000;
const print = (record: string, count = 4000) => `[${Array(count).fill(record).join(', ')}]`;

/** The answers, each with its name in its records, so that bytes of another answer are noticed. */
const ANSWERS = {
  plain: print(printRecord('plain')),
  chunked: print(printRecord('a contact in chunks')),
  'long value': print(printRecord('long value '.repeat(30_000)), 2),
  many: print(printRecord('many'), MANY),
  huge: print(printRecord('huge value '.repeat(MANY)), 4),
};
type Name = keyof typeof ANSWERS;
const EXPECTED: Record<Name, string> = {
  plain: print(printConverted('plain')),
  chunked: print(printConverted('a contact in chunks')),
  'long value': print(printConverted('long value '.repeat(30_000)), 2),
  many: print(printConverted('many'), MANY),
  huge: print(printConverted('huge value '.repeat(MANY)), 4),
};
const expected = (name: Name) => `{"jsonrpc":"2.0","id":1,"result":${EXPECTED[name]}}`;

const pair = await startPair(
  async (socket, { body }) => {
    if (body.includes('"fields_get"')) answerLikeOdoo(socket, printResult(TYPES));
    else if (body.includes('"broken"')) {
      const begun = printResult(ANSWERS.plain).slice(0, 200_000);
      socket.write(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${begun}`);
      await resetAfterReading(socket);
    } else if (body.includes('"chunked"')) await sendChunks(socket, printResult(ANSWERS.chunked));
    else {
      const name = (Object.keys(ANSWERS) as Name[]).find((each) => body.includes(`"${each}"`));
      answerLikeOdoo(socket, printResult(ANSWERS[name ?? 'plain']));
    }
  },
  { settings: { 'http.answerBytesPerSecondMin': '0' } },
);
afterAll(() => pair.close());

/** Sends chunks of different sizes, so that a read has several chunks or a part of one. */
async function sendChunks(socket: Socket, text: string): Promise<void> {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n');
  for (let at = 0, size = 10; at < text.length; at += size, size = (size * 7) % 30_011) {
    const chunk = text.slice(at, at + size);
    socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    if (size % 3 === 0) await passTurns();
  }
  socket.end('0\r\n\r\n');
}

/** A call on a database of its own, whose breaker may open. */
const BROKEN = {
  keyword: { context: { broken: 1 } },
  erp_instance: { url: pair.upstream.url, db: 'broken', user_id: 2, api_key: 'upstream-key-0123456789' },
};

type Kind = 'reads' | 'reads late' | 'leaves' | 'gets broken answer' | 'batch';

async function call(
  kind: Kind,
  { encoding, bytes, name }: { encoding: string; bytes: number; name: Name },
): Promise<void> {
  const isBroken = kind === 'gets broken answer';
  const one = makeCall(pair.upstream.url, isBroken ? BROKEN : { keyword: { context: { [name]: 1 } } });
  const caller = startCaller(pair.proxy, kind === 'batch' ? [one, one] : one, {
    headers: {
      prefer: 'values=normalized',
      connection: 'close',
      'cache-control': 'no-cache',
      ...(encoding === '' ? {} : { 'accept-encoding': encoding }),
    },
    isPaused: kind === 'reads late',
  });
  if (kind === 'reads late') await pause(bytes % 50).then(() => caller.socket.resume());
  if (kind === 'leaves') {
    await caller.until((received) => received.length > bytes % (encoding === '' ? 300_000 : 1000));
    caller.socket.destroy();
  }
  await caller.ended;
  if (kind === 'leaves' || isBroken) return;
  const answer = takeAnswer(caller.received);
  expect(answer?.isWhole).toBe(true);
  const text = unpack(encoding, answer!.body).toString();
  expect(text === (kind === 'batch' ? `[${expected(name)},${expected(name)}]` : expected(name))).toBe(true);
}

test('random callers get the bytes of their answers', async () => {
  const caller = fc.record({
    kind: fc.constantFrom<Kind>('reads', 'reads', 'reads late', 'leaves', 'gets broken answer', 'batch'),
    encoding: fc.constantFrom('', '', 'gzip'),
    bytes: fc.nat(1_000_000),
    name: fc.constantFrom<Name>('plain', 'plain', 'chunked', 'long value'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(caller, { minLength: 1, maxLength: 12 }), async (callers) => {
      await Promise.all(callers.map(({ kind, ...options }) => call(kind, options)));
    }),
    { numRuns: countCases(10), endOnFailure: true },
  );
});

test.each(['many', 'huge'] as const)('what waits for its caller is not overwritten: %s', async (name) => {
  const context = { [name]: 1 };
  const caller = startCaller(pair.proxy, makeCall(pair.upstream.url, { keyword: { context } }), {
    headers: { prefer: 'values=normalized', connection: 'close', 'cache-control': 'no-cache' },
    isPaused: true,
  });
  await pause(10 * MOMENT_MS);
  for (let round = 0; round < 5; round++) await call('reads', { encoding: '', bytes: 0, name: 'plain' });
  caller.socket.resume();
  await caller.ended;
  expect(takeAnswer(caller.received)?.body.toString() === expected(name)).toBe(true);
});
