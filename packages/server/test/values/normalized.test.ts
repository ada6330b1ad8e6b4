/** Tests docs/values.md: when values are normalized, and what happens if the types of the fields are not known. */
import { afterEach, describe, expect, test } from 'vitest';
import { printCall } from '../execute/expectations.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, printResult, resetAfterReading } from '../scripted-upstream.ts';
import { countTurns } from '../watch-turns.ts';

const PREFER = { prefer: 'values=normalized' };
const APPLIED = 'preference-applied';
const RECORDS = '[{"id": 1, "parent_id": false, "x_when": "2026-10-21 01:31:00", "amount": 1.0}]';
const CONVERTED = '[{"id": 1, "parent_id": null, "x_when": "2026-10-21T01:31:00Z", "amount": 1.0}]';
const TYPES: Record<string, object> = {
  id: { type: 'integer' },
  name: { type: 'char' },
  parent_id: { type: 'many2one', relation: 'res.partner' },
  child_ids: { type: 'one2many', relation: 'res.partner' },
  x_when: { type: 'datetime' },
  amount: { type: 'float' },
};
const BAD_TYPES =
  '{"jsonrpc": "2.0", "id": 1, "error": {"code": 200, "message": "Odoo Server Error", "data": {"name": "odoo.exceptions.AccessError", "message": "no", "arguments": ["no"], "context": {}, "debug": ""}}}';

let pair: Pair;
afterEach(() => pair.close());

/** Opens an upstream that answers `fields_get` with `types`, and all other calls with `result`. */
async function open({ types = () => printResult(JSON.stringify(TYPES)), result = RECORDS } = {}) {
  pair = await startPair((socket, { body }) => {
    const isTypes = body.includes('"fields_get"');
    answerLikeOdoo(socket, isTypes ? types() : printResult(result));
  });
}

const post = (changes: Record<string, string | null> = {}, headers: Record<string, string> = PREFER) =>
  pair.proxy.post(
    printCall(pair.upstream.url, { action: '"search_read"', params: '[]', ...changes }),
    headers,
  );
const sent = (text: string) => pair.upstream.requests.filter(({ body }) => body.includes(text));
const value = (body: Buffer) => /"result":(.*)\}$/s.exec(body.toString())?.[1];

describe('a read', () => {
  test.each([
    ['values=normalized', true],
    ['handling=lenient, Values = "normalized"; x=1', true],
    ['values=normalized, values=raw', true],
    ['values=raw, values=normalized', false],
    ['values=Normalized', false],
    ['handling=lenient', false],
    ['', false],
  ])('with prefer: %s is normalized: %s', async (prefer, isNormalized) => {
    await open();
    const { body, headers } = await post({}, { prefer });
    expect(value(body)).toBe(isNormalized ? CONVERTED : RECORDS);
    expect(headers[APPLIED]).toBe(isNormalized ? 'values=normalized' : undefined);
    expect(sent('"fields_get"')).toHaveLength(isNormalized ? 1 : 0);
  });

  test('of another method keeps its bytes, and asks for no types', async () => {
    await open();
    const { body, headers } = await post({ action: '"search"' });
    expect([value(body), headers[APPLIED], sent('"fields_get"').length]).toEqual([RECORDS, undefined, 0]);
  });

  test('asks for the types once', async () => {
    await open();
    await Promise.all([post(), post(), post()]);
    await post();
    expect(sent('"fields_get"')).toHaveLength(1);
  });

  test('asks again for types that were dropped for the large answers of a server', async () => {
    const large = printResult(`{"id": {"type": "integer"}, "a": {"type": "${'x'.repeat(2_000_000)}"}}`);
    await open({ types: () => large, result: '[{"id": 1}]' });
    const read = (model: number) => post({ model_id: `"x.m${model}"` });
    for (let model = 0; model < 22; model++) await read(model);
    await read(0);
    const ofFirst = sent('"fields_get"').filter(({ body }) => body.includes('"x.m0"'));
    expect(ofFirst).toHaveLength(2);
  });

  test('shared with a caller that does not prefer it has the bytes of Odoo for that one', async () => {
    await open();
    const [normalized, plain] = await Promise.all([post(), post({}, {})]);
    expect([value(normalized.body), value(plain.body)]).toEqual([CONVERTED, RECORDS]);
  });

  test.each([
    ['named in the call', '{"fields": ["x_new"]}'],
    ['found in the result', '{}'],
  ])('converts a custom field that appeared meanwhile, %s', async (_, keyword) => {
    let types = TYPES;
    await open({
      types: () => printResult(JSON.stringify(types)),
      result: '[{"id": 1, "x_new": "2026-10-21 01:31:00"}]',
    });
    await post({ action: '"write"', params: '[[1], {"name": "a"}]' });
    types = { ...TYPES, x_new: { type: 'datetime' } };
    expect(value((await post({ keyword })).body)).toBe('[{"id": 1, "x_new": "2026-10-21T01:31:00Z"}]');
    expect(sent('"fields_get"')).toHaveLength(2);
  });

  test('with many unknown fields asks for their types once, and lets other work run', async () => {
    const read = async (count: number) => {
      const unknown = Array.from({ length: count }, (_, index) => `"x_${index}": false`);
      await open({ result: `[{"parent_id": false, ${unknown.join(', ')}}]` });
      const turns = await countTurns(async () => {
        expect(value((await post()).body)).toBe(`[{"parent_id": null, ${unknown.join(', ')}}]`);
      });
      expect(sent('"fields_get"')).toHaveLength(2);
      return turns;
    };
    const turnsOfOne = await read(1);
    await pair.close();
    expect(await read(900)).toBeGreaterThan(turnsOfOne + 40);
  });

  test('has the type of a new field behind one that was looked for in vain a moment ago', async () => {
    const answers = { types: '{"id": {"type": "integer"}}', result: '[{"x_none": 1}]' };
    pair = await startPair((socket, { body }) =>
      answerLikeOdoo(socket, printResult(body.includes('"fields_get"') ? answers.types : answers.result)),
    );
    expect(value((await post()).body)).toBe(answers.result);
    answers.types = '{"id": {"type": "integer"}, "x_new": {"type": "datetime"}}';
    answers.result = '[{"x_none": 1, "x_new": "2026-10-21 01:31:00"}]';
    expect(value((await post()).body)).toBe('[{"x_none": 1, "x_new": "2026-10-21T01:31:00Z"}]');
  });

  test('of a megabyte is normalized as it arrives', async () => {
    const rows = Array.from({ length: 12_000 }, () => RECORDS.slice(1, -1));
    await open({ result: `[${rows.join(', ')}]` });
    const { body, headers } = await post();
    expect(value(body) === `[${rows.map(() => CONVERTED.slice(1, -1)).join(', ')}]`).toBe(true);
    expect(headers[APPLIED]).toBe('values=normalized');
  });

  test.each([
    ['hidden', BAD_TYPES],
    ['no object', printResult('[]')],
    ['of 30 MB', printResult(JSON.stringify({ id: { type: 'integer', relation: 'x'.repeat(30_000_000) } }))],
    ['not JSON', 'oops'],
  ])('keeps its bytes if the types are %s', async (_, types) => {
    await open({ types: () => types });
    const { body, headers } = await post();
    expect([value(body), headers[APPLIED]]).toEqual([RECORDS, undefined]);
    await post();
    expect(sent('"fields_get"')).toHaveLength(1);
    const batch = await pair.proxy.call(
      `[${printCall(pair.upstream.url, { action: '"search_read"', params: '[]' })}]`,
      PREFER,
    );
    expect(batch.headers[APPLIED]).toBe('values=normalized');
    expect(batch.json[0].error).toBeDefined();
  });

  test('with an idempotency key is another call than without the preference', async () => {
    await open();
    const key = { 'idempotency-key': 'one' };
    expect(value((await post({}, { ...PREFER, ...key })).body)).toBe(CONVERTED);
    const again = await post({}, { ...PREFER, ...key });
    expect([value(again.body), again.headers[APPLIED]]).toEqual([CONVERTED, 'values=normalized']);
    expect((await post({}, key)).body.toString()).toContain('idempotency_conflict');
  });
});

describe('a batch', () => {
  test('is normalized as a whole', async () => {
    await open();
    const call = printCall(pair.upstream.url, { action: '"search_read"', params: '[]' });
    const { json, headers } = await pair.proxy.call(`[${call},${call}]`, PREFER);
    expect(headers[APPLIED]).toBe('values=normalized');
    expect(json.map(({ result }: { result: unknown }) => result)).toEqual([
      JSON.parse(CONVERTED),
      JSON.parse(CONVERTED),
    ]);
  });
});

describe('a write', () => {
  const write = (values: string, headers: Record<string, string> = PREFER) =>
    post({ action: '"write"', params: `[[1], ${values}]` }, headers);

  test.each([
    ['{"name": null, "amount": 1.0}', '{"name": false, "amount": 1.0}'],
    ['{"parent_id": {"id": 10, "name": "x"}}', '{"parent_id": 10}'],
    ['{"parent_id": 10}', '{"parent_id": 10}'],
    ['{"x_when": "2026-10-21T03:31:00.25+02:00"}', '{"x_when": "2026-10-21 01:31:00"}'],
    ['{"x_when": "2026-10-21 03:31:00 +0200"}', '{"x_when": "2026-10-21 01:31:00"}'],
    ['{"x_when": "2026-10-21 01:31:00"}', '{"x_when": "2026-10-21 01:31:00"}'],
    [
      '{"child_ids": {"set": [1, 2], "add": [3], "remove": [4]}}',
      '{"child_ids": [[6, 0, [1, 2]], [4, 3, 0], [3, 4, 0]]}',
    ],
    [
      '{"child_ids": {"clear": true, "create": [{"x_when": null}], "update": [{"id": 4, "name": null}], "delete": [5]}}',
      '{"child_ids": [[5, 0, 0], [0, 0, {"x_when": false}], [1, 4, {"name": false}], [2, 5, 0]]}',
    ],
    ['{"child_ids": [[0, 0, {"name": null}], [4, 1]]}', '{"child_ids": [[0, 0, {"name": false}], [4, 1]]}'],
    ['{"x_none": null, "child_ids": [1, 2]}', '{"x_none": null, "child_ids": [1, 2]}'],
  ])('of %s sends %s', async (values, odoo) => {
    await open({ result: 'true' });
    const { headers } = await write(values);
    expect(headers[APPLIED]).toBe('values=normalized');
    expect(sent(odoo)).toHaveLength(1);
  });

  test.each([
    ['{"child_ids": {"sett": [1]}}', 'params[1].child_ids'],
    ['{"child_ids": {"add": 1}}', 'params[1].child_ids.add'],
    ['{"child_ids": {"add": ["a"]}}', 'params[1].child_ids.add[0]'],
    ['{"child_ids": {"update": [{"name": "a"}]}}', 'params[1].child_ids.update[0]'],
    [
      '{"child_ids": {"create": [{"x_when": "2026-02-30T00:00:00Z"}]}}',
      'params[1].child_ids.create[0].x_when',
    ],
    ['{"parent_id": {"name": "x"}}', 'params[1].parent_id'],
  ])('of %s is refused at %s', async (values, path) => {
    await open({ result: 'true' });
    const { json } = await pair.proxy.call(
      printCall(pair.upstream.url, { action: '"write"', params: `[[1], ${values}]` }),
      PREFER,
    );
    expect(json.error.data).toMatchObject({ type: 'invalid_params', path });
    expect(sent('"write"')).toHaveLength(0);
  });

  test('is not sent if the types are not known', async () => {
    await open({ types: () => BAD_TYPES });
    const { body, headers } = await write('{"name": null}');
    expect(body.toString()).toContain('access_error');
    expect(body.toString()).toContain('Nothing was written');
    expect([headers[APPLIED], sent('"write"').length]).toEqual([undefined, 0]);
  });

  test('is not sent if the answer with the types breaks off, which does not concern the next call', async () => {
    const long = printResult(
      JSON.stringify({ ...TYPES, note: { type: 'text', relation: 'x'.repeat(400_000) } }),
    );
    let isWhole = false;
    pair = await startPair(async (socket, { body }) => {
      if (!body.includes('"fields_get"')) return answerLikeOdoo(socket, printResult('true'));
      if (isWhole) return answerLikeOdoo(socket, long);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${long.length}\r\n`);
      socket.write(`Content-Type: application/json\r\n\r\n${long.slice(0, 300_000)}`);
      await resetAfterReading(socket);
    });
    const failed = await pair.proxy.call(
      printCall(pair.upstream.url, { action: '"write"', params: '[[1], {"name": null}]' }),
      PREFER,
    );
    expect(failed.json.error.data).toMatchObject({ type: 'upstream_unreachable', outcome: 'not_sent' });
    expect(sent('"write"')).toHaveLength(0);
    isWhole = true;
    expect((await write('{"name": null}')).headers[APPLIED]).toBe('values=normalized');
    expect(sent('{"name": false}')).toHaveLength(1);
  });
});
