/**
 * Tests NaN and Infinity, which Odoo stores in floats and prints, although they are no JSON: the proxy's own forms have
 * null instead, and plain calls of any size get one clear error.
 */

import { readStream } from '@erp-proxy/async/streams';
import { CheckedStream, ReplacedStream } from '@erp-proxy/gateway/testing';
import { listNonNumbers, replaceNonNumbers } from '@erp-proxy/odoo/values';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { printCall } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { startWithScript } from '../mcp/scripted-odoo.ts';
import { type Pair, startPair } from '../pair.ts';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';

const PREFER = { prefer: 'values=normalized' };
const TYPES = {
  id: { type: 'integer' },
  name: { type: 'char' },
  target: { type: 'float' },
  user_id: { type: 'many2one', relation: 'res.users' },
};
/** A text that only looks like such values. */
const NAME = '"a \\"target\\": NaN, Infinity \\\\"';

let pair: Pair;
afterEach(() => pair?.close());

async function open(rows: string[]) {
  const result = `[${rows.join(', ')}]`;
  pair = await startPair((socket, { body }) => {
    const isTypes = body.includes('"fields_get"');
    answerLikeOdoo(socket, printResult(isTypes ? JSON.stringify(TYPES) : result));
  });
}

const read = (headers: Record<string, string> = {}) =>
  pair.proxy.post(printCall(pair.upstream.url, { action: '"search_read"', params: '[]' }), headers);
const row = (id: number, target: string) =>
  `{"id": ${id}, "name": ${NAME}, "user_id": false, "target": ${target}}`;
const rows = (count: number, target: string, at = count - 1) =>
  Array.from({ length: count }, (_, index) => row(index + 1, index === at ? target : '1.0'));

describe.each(['NaN', 'Infinity', '-Infinity'])('%s', (target) => {
  test('in a short answer is one error that names cause and field', async () => {
    await open(rows(2, target));
    for (let time = 0; time < 2; time++) {
      const { status, body } = await read();
      const { error } = JSON.parse(body.toString());
      expect([status, error.data.type, error.data.path]).toEqual([502, 'upstream_bad_response', 'target']);
      expect(error.message).toMatch(/NaN or Infinity.*values=normalized/);
      expect(error.message).not.toContain('base address');
    }
  });

  test('in a long answer never gives a whole answer that no parser reads, and then the same error', async () => {
    await open(rows(3000, target));
    await expect(read()).rejects.toThrow();
    const { status, body } = await read();
    expect([status, JSON.parse(body.toString()).error.data.path]).toEqual([502, 'target']);
  });

  test.each([2, 3000])('is null for a caller of normalized values, in %i records', async (count) => {
    await open(rows(count, target));
    const { status, body, headers } = await read(PREFER);
    const { result } = JSON.parse(body.toString());
    expect([status, result.length, result.at(-1).target, result[0].target]).toEqual([200, count, null, 1]);
    expect(result.at(-1).name).toBe(JSON.parse(NAME));
    if (count === 2) expect(headers['erp-proxy-null-field']).toBe('target');
  });
});

test('texts that only look like it pass, in short and long answers', async () => {
  for (const count of [2, 3000]) {
    await open(rows(count, '1.0'));
    for (const headers of [{}, PREFER]) {
      const { status, body } = await read(headers);
      expect([status, JSON.parse(body.toString()).result.length]).toEqual([200, count]);
    }
    await pair.close();
  }
});

/** Sends a request to a route that moves data. */
const post = (route: 'export' | 'changes', members: object) =>
  send(`${pair.proxy.url}/api/erp/${route}`, {
    method: 'POST',
    headers: { 'x-proxy-api': pair.proxy.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model_id: 'crm.team',
      fields: ['target'],
      ...members,
      erp_instance: JSON.parse(printCall(pair.upstream.url, {})).erp_instance,
    }),
  });

test('an export has null, and names the field', async () => {
  await open(rows(2, 'NaN'));
  const answer = await post('export', { limit: 2 });
  expect(answer.status).toBe(200);
  const lines = answer.body.toString().trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).target)).toEqual([1, null]);
  expect(answer.headers['erp-proxy-null-field']).toBe('target');
});

test('the log names the field if a later page of an export has it', async () => {
  // Odoo returns one record on each page, because the first record was too large for a page with several.
  let page = 0;
  pair = await startPair((socket, { body }) => {
    const isTypes = body.includes('"fields_get"');
    const record = row(++page, page === 3 ? 'NaN' : '1.0');
    answerLikeOdoo(socket, printResult(isTypes ? JSON.stringify(TYPES) : `[${page > 3 ? '' : record}]`));
  });
  const answer = await post('export', {});
  expect(answer.body.toString().trim().split('\n')).toHaveLength(3);
  expect(answer.headers['erp-proxy-null-field']).toBeUndefined();
  expect(pair.proxy.log.find(({ msg }) => msg === 'export')).toMatchObject({ nullField: 'target' });
});

test('changes have null, and name the field, in short and long answers', async () => {
  const stamped = (count: number) =>
    rows(count, 'NaN').map((text) => `${text.slice(0, -1)}, "write_date": "2026-01-01 00:00:00"}`);
  for (const count of [2, 500]) {
    const given = stamped(count);
    pair = await startPair((socket, { body }) => {
      const isCopy = body.includes('"order": "id"') || body.includes('"order":"id"');
      const after = Number(/\["id",">",(\d+)\]/.exec(body.toString())?.[1] ?? 0);
      answerLikeOdoo(socket, printResult(isCopy && after === 0 ? `[${given.join(', ')}]` : '[]'));
    });
    const answer = await post('changes', { since: null });
    const { changes } = JSON.parse(answer.body.toString()).result;
    expect([changes.length, changes.at(-1).record.target]).toEqual([count, null]);
    expect(answer.headers['erp-proxy-null-field']).toBe('target');
    if (count === 2) await pair.close();
  }
});

test('whatever the pieces are, a stream replaces what a parser of the whole does', async () => {
  const values = fc.array(
    fc.record({
      a: fc.constantFrom(
        'NaN',
        '-Infinity',
        'Infinity',
        '1.5',
        'null',
        '"NaN"',
        '": NaN, "'.replaceAll('"', ''),
      ),
      text: fc.oneof(fc.string(), fc.constantFrom('", "a": NaN,', '\\": Infinity', ': NaN')),
    }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(
      values,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      async (records, sizes) => {
        const printed = records.map(
          ({ a, text }) => `{"t": ${JSON.stringify(text)}, "a": ${a.startsWith(':') ? '0' : a}}`,
        );
        const bytes = Buffer.from(`[${printed.join(', ')}]`);
        const pieces: Uint8Array[] = [];
        for (let at = 0, index = 0; at < bytes.length; index++) {
          const size = sizes[index % sizes.length]!;
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        const stream = new ReplacedStream(
          { next: () => pieces.shift() ?? null, cancel: () => {} },
          'records',
          () => {},
        );
        const given: Uint8Array[] = [];
        for (let piece = await stream.next(); piece !== null; piece = await stream.next()) given.push(piece);
        const whole = replaceNonNumbers(bytes, listNonNumbers(bytes));
        expect(Buffer.concat(given).toString()).toBe(Buffer.from(whole).toString());
        expect(() => JSON.parse(Buffer.from(whole).toString())).not.toThrow();
      },
    ),
    { numRuns: countCases(300) },
  );
});

/** Cuts bytes into pieces of these sizes, over and over. */
function cut(bytes: Uint8Array, sizes: readonly number[]) {
  const pieces: Uint8Array[] = [];
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length]!;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return { next: () => pieces.shift() ?? null, cancel: () => {} };
}

test('elements of lists are found too, whatever the pieces are', async () => {
  const element = fc.oneof(
    fc.constantFrom('NaN', 'Infinity', '-Infinity', '1.5', 'null', '{"a b": NaN, "c": [NaN]}'),
    fc
      .oneof(fc.string(), fc.constantFrom('NaN', ', NaN', '\\", NaN, "', '-Inf', 'In', '\\'))
      .map((text) => JSON.stringify(text)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(element, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      async (elements, sizes) => {
        const bytes = Buffer.from(`[${elements.join(', ')}]`);
        const found = listNonNumbers(bytes);
        const whole = Buffer.from(replaceNonNumbers(bytes, found)).toString();
        const replaced = new ReplacedStream(cut(bytes, sizes), 'lists', () => {});
        expect(Buffer.from((await readStream(replaced)) as Uint8Array).toString()).toBe(whole);
        const checked = readStream(new CheckedStream(cut(bytes, sizes), 'lists', () => {}));
        if (found.length > 0) await expect(checked).rejects.toThrow('NaN or Infinity');
        else expect(Buffer.from((await checked) as Uint8Array).toString()).toBe(whole);
      },
    ),
    { numRuns: countCases(300) },
  );
});

describe('a list of numbers with NaN, as export_data gives it', () => {
  const exported = (count: number) =>
    Array.from({ length: count }, (_, index) => `[${NAME}, ${index === count - 1 ? 'NaN' : 1.5}]`);
  const call = (headers: Record<string, string> = {}) => {
    const changes = { action: '"export_data"', params: '[[1], ["name", "target"]]' };
    return pair.proxy.post(printCall(pair.upstream.url, changes), headers);
  };

  test('is one clear error in a short answer', async () => {
    await open(exported(2));
    const { status, body } = await call();
    const { error } = JSON.parse(body.toString());
    expect([status, error.data.type]).toEqual([502, 'upstream_bad_response']);
    expect(error.message).toMatch(/^A value in the answer is NaN or Infinity/);
  });

  test('breaks off a long answer that has begun, is in the log, and is one clear error from the next call on', async () => {
    await open(exported(3000));
    await expect(call()).rejects.toThrow();
    const line = pair.proxy.log.find(({ msg }) => msg === 'call');
    expect(JSON.stringify(line)).toContain('NaN or Infinity in a list');
    const { status, body } = await call();
    expect([status, JSON.parse(body.toString()).error.data.type]).toEqual([502, 'upstream_bad_response']);
  });

  test('is null for a caller of normalized values', async () => {
    await open(exported(3000));
    const { status, body } = await call(PREFER);
    const { result } = JSON.parse(body.toString());
    expect([status, result.length, result.at(-1)[1]]).toEqual([200, 3000, null]);
  });
});

test('a plain stream breaks off wherever the pieces of a long answer end', async () => {
  const text = JSON.stringify('x'.repeat(400));
  const bytes = Buffer.from(`[{"t": ${text}, "amount_total_in_currency_signed": -Infinity, "u": ${text}}]`);
  for (let cut = 1; cut < bytes.length; cut++) {
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
    const stream = new CheckedStream(
      { next: () => pieces.shift() ?? null, cancel: () => {} },
      'records',
      () => {},
    );
    await expect(readStream(stream), `cut at ${cut}`).rejects.toThrow('amount_total_in_currency_signed');
  }
});

test.each([1, 60])('a tool says once that null stands for such a value, in %i records', async (count) => {
  const { post } = await startTool(`[${rows(count, 'NaN')}]`);
  const args = { model: 'crm.team', fields: ['target'], limit: count };
  const params = { name: 'search_records', arguments: args };
  const answer = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  expect(answer.match(/target of a record is NaN or Infinity/g)).toHaveLength(2);
  expect(answer).toContain('\\"target\\":null');
});

async function startTool(result: string) {
  const post = await startWithScript((socket, { body }) => {
    const { args } = JSON.parse(body.toString()).params;
    const results: Record<string, string> = { fields_get: JSON.stringify(TYPES), context_get: '{}' };
    answerLikeOdoo(socket, printResult(results[args[4]] ?? result));
  });
  return { post };
}
