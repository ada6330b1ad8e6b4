import { expect, test } from 'vitest';
import {
  describeCell,
  describeError,
  printSize,
  readStages,
  replaceName,
  tabulate,
} from './describe-answer.ts';
import { parseExactly } from './exact-json.ts';

test.each([
  [[3, 'Azure'], 'many2one', { text: 'Azure', hint: '3' }],
  [{ id: 3, name: 'Azure' }, 'many2one', { text: 'Azure', hint: '3' }],
  [[1, 2, 3], 'one2many', { text: '3 records' }],
  [[], 'one2many', { text: '0 records' }],
  [false, 'char', { text: '' }],
  [false, 'boolean', { text: 'false' }],
  [false, undefined, { text: 'false' }],
  [null, undefined, { text: '' }],
  [{ a: 1 }, 'json', { text: '{"a":1}' }],
  ['x'.repeat(1_000_000), 'text', { text: `${'x'.repeat(160)}…` }],
])('the cell of %j', (value, type, cell) => {
  expect(describeCell(value, type)).toEqual(cell);
});

test('records become a table of at most 200 rows', () => {
  const records = Array.from({ length: 300 }, (_, id) => ({ id, name: `n${id}` }));
  const table = tabulate(records.slice(0, 200), 300);
  expect(table).toMatchObject({ columns: ['id', 'name'], total: 300 });
  expect(table?.rows).toHaveLength(200);
  expect(tabulate([4, 5], 2)?.rows).toEqual([[{ text: '4' }], [{ text: '5' }]]);
  for (const other of [true, [], {}, ['a'], [[1]], null]) expect(tabulate(other, 1)).toBeNull();
});

test('cells have the digits that the server wrote', () => {
  const records = parseExactly(
    '[{"id":9007199254740993,"amount":1050.0,"rate":1e-7,"partner_id":[9007199254740995,"Azure"],"tags":[9007199254740997,1.0]}]',
  );
  expect(tabulate(records, 1, {})?.rows).toEqual([
    [
      { text: '9007199254740993' },
      { text: '1050.0' },
      { text: '1e-7' },
      { text: 'Azure', hint: '9007199254740995' },
      { text: '2 records' },
    ],
  ]);
  expect(tabulate(parseExactly('[9007199254740993]'), 1)?.rows).toEqual([[{ text: '9007199254740993' }]]);
  expect(describeCell(parseExactly('{"a":9007199254740993,"b":1.0}')).text).toBe(
    '{"a":9007199254740993,"b":1.0}',
  );
});

test('the times of a call are split by server-timing', () => {
  const { stages, protocol } = readStages('upstream;dur=12.5;desc="json2", proxy;dur=1.5', 20);
  expect(stages.map(({ ms }) => ms)).toEqual([12.5, 1.5, 6]);
  expect(protocol).toBe('json2');
  const waited = readStages('queue;dur=5.5, upstream;dur=12.5;desc="json2", proxy;dur=1.5', 20);
  expect(waited.stages).toEqual([
    { name: 'Queue', ms: 5.5 },
    { name: 'Odoo', ms: 12.5 },
    { name: 'Proxy', ms: 1.5 },
    { name: 'Transfer', ms: 0.5 },
  ]);
  expect(readStages(null, 20)).toMatchObject({ stages: [{ ms: 0 }, { ms: 0 }, { ms: 20 }], protocol: null });
});

test('an error is explained by the table of the contract', () => {
  const describe = (data: { type: string; retryable: boolean; outcome?: 'unknown' }) =>
    describeError({ code: 1, message: '', data });
  expect(describe({ type: 'upstream_timeout', retryable: false, outcome: 'unknown' })).toMatchObject({
    title: 'Upstream timeout',
    remedy: expect.stringContaining('data.outcome') as string,
    outcome: expect.stringContaining('may have run') as string,
  });
  expect(describe({ type: 'approval_required', retryable: false }).remedy).not.toMatch(/[`\]]/);
  expect(describe({ type: 'record_missing', retryable: true })).toMatchObject({
    remedy: null,
    outcome: null,
  });
  expect(describe({ type: 'constructor', retryable: false }).meaning).toBe('The call failed.');
});

test('a nearest name takes the place of the unknown one', () => {
  const args = { domain: '[["nam", "=", "nam x"], ["partner_id.nam", "=", 1]]', fields: '["name", "nam"]' };
  expect(replaceName(args, `Invalid field 'nam' on model 'res.partner'`, 'name')).toEqual({
    domain: '[["name", "=", "name x"], ["partner_id.name", "=", 1]]',
    fields: '["name", "name"]',
  });
  expect(replaceName(args, 'Invalid field "other"', 'name')).toBeNull();
});

test.each([
  [12, '12 bytes'],
  [1_234, '1.2 kB'],
  [5_000_000, '5.0 MB'],
])('%i bytes are %s', (bytes, text) => {
  expect(printSize(bytes)).toBe(text);
});

test('a value that is nested too deep to print is told as such', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(50_000)}"a"${']'.repeat(50_000)}`);
  expect(describeCell(deep)).toEqual({ text: 'nested too deep to be shown here' });
});
