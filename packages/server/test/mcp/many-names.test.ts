/**
 * Tests requests with thousands of names: they are refused before they are read, because reading and checking them
 * would block other calls.
 */
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { expectCpuBelow } from '../time.ts';
import { startWithScript } from './scripted-odoo.ts';

const BYTES = 750_000;

const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(',');
const NAMES = repeat(BYTES / 13, (index) => `"name${String(index).padStart(5, '0')}":1`);

/** Prints a call with further names in the message, in its parameters, in `_meta`, and in the arguments of a tool. */
function printCall({ message = '', params = '', meta = '', args = '', tool = 'count_records' }): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call"${message},"params":{"name":"${tool}"${params},"_meta":{${meta}},"arguments":{"model":"res.partner"${args}}}}`;
}

function start(result = '5') {
  return startWithScript((socket, request) => {
    const isQuestion = request.body.includes('fields_get');
    answerLikeOdoo(socket, printResult(isQuestion ? '{"id": {"type": "integer"}}' : result));
  });
}

test('cost less than a valid request of their size', async () => {
  const post = await start();
  const prepare = (body: string, expected: string) => async () =>
    expect(await post(body)).toContain(expected);
  const ids = repeat(BYTES / 8, (index) => String(1_000_000 + index));
  const sendValid = prepare(printCall({ args: `,"domain":[["id","in",[${ids}]]]` }), '"count":5');
  const bodies = [
    { args: `,${NAMES}` },
    { params: `,${NAMES}` },
    { message: `,${NAMES}` },
    { meta: NAMES },
    { args: `,"values":{${NAMES}}`, tool: 'create_record' },
    { args: `,"domain":[["id","in",[${repeat(BYTES / 13, (index) => `{"a${index}":1}`)}]]]` },
  ];
  for (const body of bodies) {
    const send = prepare(printCall(body), '"payload_too_large"');
    // An earlier version took more than ten times as long.
    await expectCpuBelow(1, send, sendValid, JSON.stringify(body).slice(0, 60));
  }
});

test('an answer of Odoo with very many members is refused before it is read', async () => {
  const print = (count: number) => `[{"id":1,${repeat(count, (index) => `"n${index}":1`)}}]`;
  const search = printCall({ tool: 'search_records', args: ',"fields":["id"]' });
  expect(await (await start(print(29_990)))(search)).toContain('"records":[{"id":1');
  expect(await (await start(print(30_000)))(search)).toContain('has more values than are read at once');
});

test('are refused beyond the limits, and accepted up to them', async () => {
  const post = await start();
  const names = (count: number) => repeat(count, (index) => `"n${index}":1`);
  // With the model, these are 100 arguments.
  expect(await post(printCall({ args: `,${names(99)}` }))).toContain('There is no argument');
  expect(await post(printCall({ args: `,${names(100)}` }))).toContain('may have 100 arguments of a tool');
  expect(await post(printCall({ meta: names(101) }))).toContain('may have 100 arguments of a tool');
  const batch = `[${printCall({})},${printCall({ args: `,${names(100)}` })}]`;
  expect(await post(batch)).toContain('may have 100 arguments of a tool');
  const repeated = (count: number) => post(`[${Array.from({ length: count }, () => printCall({}))}]`);
  expect(await repeated(100)).not.toContain('may have');
  expect(await repeated(101)).toContain('A request to /mcp may have 100 messages.');
  const create = (count: number) =>
    post(printCall({ args: `,"values":{${names(count)}}`, tool: 'create_record' }));
  expect(await create(9980)).toContain('has no field');
  expect(await create(10_001)).toContain('may have 10000 members in its objects');
});
