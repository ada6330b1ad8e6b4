/** Tests answers of Odoo that cannot be exported, and failures in the middle of an export. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult, ROLLED_BACK } from '../scripted-upstream.ts';
import { type PageScript, printRecord, readIds, startTableStage } from './export-stage.ts';

const printRecords = (ids: readonly number[]) => printResult(`[${ids.map(printRecord).join(', ')}]`);
const printFault = (name: string, message: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    error: {
      code: 200,
      message: 'Odoo Server Error',
      data: { name, message, arguments: [message], context: {} },
    },
  });

/** Answers each page after the first one with the given text. */
const later =
  (text: string): PageScript =>
  (socket, { after }) => {
    if (after === 0) return false;
    answerLikeOdoo(socket, text);
    return true;
  };

const LIES: [name: string, text: string][] = [
  ['ids that fall', printRecords([300, 299])],
  ['an id twice', printRecords([300, 300])],
  ['the page before again', printRecords([1, 2, 3])],
  ['a record without an id', printResult('[{"name": "A"}]')],
  ['an id that is a text', printResult('[{"id": "300"}]')],
  ['an id that is a fraction', printResult('[{"id": 300.5}]')],
  ['an id that no number can hold', printResult('[{"id": 99999999999999999999}]')],
  ['more records than asked for', printRecords(Array.from({ length: 1000 }, (_, index) => 101 + index))],
  ['numbers instead of records', printResult('[300, 301]')],
  ['an object instead of a list', printResult('{"id": 300}')],
  ['`true`', printResult('true')],
  ['`null`', printResult('null')],
  ['no result', '{"jsonrpc": "2.0", "id": 1}'],
  ['no JSON', 'Hello'],
  ['a list that is not closed, in a long answer', printResult(`[{"id": 300, "x": "${'x'.repeat(40_000)}"}`)],
  ['a long answer with garbage', printResult(`[{"id": 300, "x": "${'x'.repeat(40_000)}"} }{]`)],
  [
    'a field that was removed',
    printFault('builtins.ValueError', "Invalid field 'name' on model 'res.partner'"),
  ],
  ['records that vanished', printFault('odoo.exceptions.MissingError', 'Record does not exist')],
  ['access that was withdrawn', printFault('odoo.exceptions.AccessError', 'You may not')],
];

test.each(LIES)('breaks off after %s, and gives what it had', async (_name, text) => {
  const stage = await startTableStage({ count: 1000, script: later(text) });
  const answer = await stage.export();
  expect(answer).toMatchObject({ status: 200, isBroken: true });
  expect(readIds(answer)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(stage.calls.filter(({ after }) => after > 0)).toHaveLength(1);
  expect(stage.proxy.log.filter(({ msg }) => msg === 'export')).toMatchObject([
    { records: 100, problem: expect.stringMatching(/./) },
  ]);
});

test.each(LIES)('answers %s on the first page with an error', async (_name, text) => {
  const stage = await startTableStage({
    count: 1000,
    script(socket) {
      answerLikeOdoo(socket, text.replaceAll(/"id": (30[01]|[123])\b/g, '"id": $1'));
      return true;
    },
  });
  const answer = await stage.export({ id: 4, limit: 2, after: 300 });
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.isBroken).toBe(false);
  expect(JSON.parse(answer.text)).toMatchObject({ id: 4, error: { data: { retryable: false } } });
  expect(stage.calls).toHaveLength(1);
});

const PASSING: [name: string, fail: PageScript][] = [
  ['503 with retry-after', (socket) => fail(socket, '503 Service Unavailable')],
  ['429 with retry-after', (socket) => fail(socket, '429 Too Many Requests')],
  [
    'a connection that is reset',
    (socket) => {
      socket.resetAndDestroy();
      return true;
    },
  ],
  [
    'an answer that breaks off',
    (socket) => {
      socket.end('HTTP/1.0 200 OK\r\nContent-Length: 50000\r\n\r\n{"jsonrpc": "2.0", "id": 1, "result": [');
      return true;
    },
  ],
  [
    'a transaction that was rolled back',
    (socket) => {
      answerLikeOdoo(socket, ROLLED_BACK);
      return true;
    },
  ],
];

function fail(socket: Parameters<PageScript>[0], status: string): true {
  socket.end(`HTTP/1.0 ${status}\r\nRetry-After: 1\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy`);
  return true;
}

test.each(PASSING)('waits and reads the page again after %s', async (_name, script) => {
  let failures = 0;
  const stage = await startTableStage({
    count: 300,
    settings: { 'upstream.retries': '0' },
    script: (socket, call, index) => (call.after > 0 && failures++ < 2 ? script(socket, call, index) : false),
  });
  const answer = await stage.export({}, { 'x-request-timeout': '2' });
  expect(answer.isBroken).toBe(false);
  expect(readIds(answer)).toHaveLength(300);
});

test('a failure before the first record is the answer, so that the caller decides', async () => {
  const stage = await startTableStage({
    count: 300,
    settings: { 'upstream.retries': '0' },
    script: (socket) => fail(socket, '503 Service Unavailable'),
  });
  const answer = await stage.export();
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
  expect(stage.calls).toHaveLength(1);
});

test('a wait longer than an export may take is not begun', async () => {
  const stage = await startTableStage({
    count: 300,
    settings: { 'upstream.retries': '0' },
    script(socket, { after }) {
      if (after === 0) return false;
      socket.end('HTTP/1.0 503 Service Unavailable\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n');
      return true;
    },
  });
  const answer = await stage.export();
  expect(answer.isBroken).toBe(true);
  expect(readIds(answer)).toHaveLength(100);
});

test('a page that is too large is asked for again as smaller ones', async () => {
  const text = 'x'.repeat(300_000);
  const print = (id: number) => `{"id": ${id}, "text": "${text}"}`;
  const stage = await startTableStage({ count: 40, print });
  const answer = await stage.export({}, { 'x-request-timeout': '60' });
  expect(answer.isBroken).toBe(false);
  expect(readIds(answer)).toHaveLength(40);
  const limits = stage.calls.map(({ limit }) => limit);
  expect(limits.slice(0, 5)).toEqual([100, 50, 25, 12, expect.any(Number)]);
  expect(limits.at(-1)).toBeLessThan(12);
});

test('a record that is too large breaks the export off, and its error says which and what to leave out', async () => {
  const print = (id: number) => `{"id": ${id}, "text": "${id === 3 ? 'x'.repeat(17 * 2 ** 20) : ''}"}`;
  const stage = await startTableStage({
    count: 5,
    print,
    script(socket, { fields, after }) {
      if (fields.join() !== 'id') return false;
      answerLikeOdoo(socket, printResult(`[{"id": ${after + 1}}]`));
      return true;
    },
  });
  const answer = await stage.export({ limit: 2 });
  expect(readIds(answer)).toEqual([1, 2]);
  const later = await stage.export({ after: 2 }, { 'x-request-timeout': '60' });
  expect(JSON.parse(later.text).error).toMatchObject({
    message: expect.stringMatching(
      /^The record 3 of `res\.partner` is too large.*fewer fields.*`after`: 3\.$/,
    ),
    data: { type: 'upstream_bad_response', retryable: false },
  });
  const whole = await stage.export({}, { 'x-request-timeout': '60' });
  expect(whole.isBroken || whole.text === later.text).toBe(true);
  const pages = stage.calls.filter(({ fields }) => fields.join() !== 'id');
  expect(pages.length).toBeLessThan(20);
  // The id is asked for once by each of the two exports that reach the record.
  expect(stage.calls.length - pages.length).toBeLessThanOrEqual(2);
  expect(readIds(await stage.export({ after: 3 }))).toEqual([4, 5]);
});

test('a slow page makes the next ones smaller, a quick one larger', async () => {
  let nowMs = 0;
  const stage = await startTableStage({
    count: 2000,
    nowMs: () => nowMs,
    script(_socket, { limit }) {
      nowMs += limit * 8;
      return false;
    },
  });
  await stage.export({ limit: 400 });
  const limits = stage.calls.map(({ limit }) => limit);
  expect(Math.max(...limits.slice(2))).toBeLessThan(60);
  const quick = await startTableStage({ count: 20_000, nowMs: () => nowMs });
  await quick.export();
  expect(Math.max(...quick.calls.map(({ limit }) => limit))).toBeGreaterThan(1000);
});

test('the log does not have what Odoo says, which may name values', async () => {
  const fault = printFault('odoo.exceptions.AccessError', 'You may not read "Azure Interior"');
  const stage = await startTableStage({ count: 1000, script: later(fault) });
  await stage.export();
  const lines = stage.proxy.log.filter(({ msg }) => msg === 'export');
  expect(lines).toMatchObject([{ problem: 'Odoo answered access_error' }]);
  expect(JSON.stringify(stage.proxy.log)).not.toContain('Azure');
});
