import { expect, test } from 'vitest';
import { describeCall, describeMore, describePart, describeRecord } from './describe-call.ts';

const WHERE = { model: 'res.partner', db: 'prod', user_id: 2 };

function describe(action: string, params: unknown, keyword: unknown = {}): string {
  const call = { params: JSON.stringify(params), keyword: JSON.stringify(keyword) };
  return describeCall({ ...WHERE, action }, call).replace(' in the database prod as user 2.', '');
}

test.each([
  ['unlink', [[7]], {}, 'Deletes the record 7 of res.partner'],
  ['unlink', [[7, 8]], {}, 'Deletes the 2 records 7, 8 of res.partner'],
  ['unlink', [], { ids: [7] }, 'Deletes the record 7 of res.partner'],
  ['write', [[7], { name: 'a', vat: 'b' }], {}, 'Changes name, vat of the record 7 of res.partner'],
  ['create', [{ name: 'a' }], {}, 'Creates a record of res.partner with name'],
  ['create', [[{ name: 'a' }, {}]], {}, 'Creates 2 records of res.partner with name'],
  ['button_draft', [[1, 2]], {}, 'Calls button_draft on the 2 records 1, 2 of res.partner'],
  ['button_draft', ['x'], {}, 'Calls button_draft on records of res.partner'],
])('%s of %j %j', (action, params, keyword, text) => {
  expect(describe(action, params, keyword)).toBe(text);
});

test('long lists and names are clipped, and hidden characters shown', () => {
  const ids = Array.from({ length: 1_000 }, (_, id) => id + 1);
  expect(describe('unlink', [ids])).toContain('the 1000 records 1, 2, 3, 4, 5, 6, 7, 8 and 992 more');
  expect(describe('write', [[1], { [`a\u202e${'b'.repeat(500)}`]: 1 }]).length).toBeLessThan(160);
  expect(describe('write', [[1], { 'a\u202eb': 1 }])).toContain('a\\u202eb');
});

test('values that are deleted or unreadable are no error', () => {
  expect(describeCall({ ...WHERE, action: 'unlink' }, null)).toBe(
    'Deletes records of res.partner in the database prod as user 2.',
  );
  expect(describeCall({ ...WHERE, action: 'unlink' }, { params: '[', keyword: '' })).toContain('Deletes');
});

test('records are named by what their caller could read, and a name cannot hide what follows', () => {
  const unnamed = { name: null, partner: null, order: null, state: null, stage: null };
  const order = { ...unnamed, id: 4, name: 'S00004', partner: 'Gemini', state: 'sale' };
  expect(describeRecord(order)).toBe('“S00004” (id 4, partner “Gemini”, state “sale”)');
  expect(describeRecord({ ...unnamed, id: 4 })).toBe('id 4');
  expect(describeRecord({ ...order, name: 'a\u202eb' })).toContain('“a\\u202eb”');
  const part = { part: 'removed' as const, field: 'order_line', model: 'sale.order.line' };
  expect(describePart({ ...part, count: 7, records: [] })).toBe('Removed from order_line (sale.order.line)');
  expect(describeMore({ ...part, count: 7, records: [order] })).toBe('And 6 more.');
  expect(describeMore({ ...part, count: 1, records: [order] })).toBe('');
  expect(describeMore({ ...part, count: null, records: [] })).toBe('The caller may not read which.');
});
