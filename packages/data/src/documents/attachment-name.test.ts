import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { listNamedFields, nameAttachment } from './attachment-name.ts';

const INVOICE = "(object.state == 'posted') and ((object.name or 'INV').replace('/','_')+'.pdf')";

test.each([
  ["'original_vendor_bill.pdf'", {}, 'original_vendor_bill.pdf'],
  [INVOICE, { state: 'posted', name: 'INV/2026/1' }, 'INV_2026_1.pdf'],
  [INVOICE, { state: 'posted', name: false }, 'INV.pdf'],
  [INVOICE, { state: 'draft', name: 'INV/2026/1' }, null],
  ["'INV' + object.name + '.pdf'", { name: '7' }, 'INV7.pdf'],
  ["object.name + '.pdf'", { name: false }, null],
  [
    "(object.state in ('draft', 'sent')) and ('Quotation - %s' % (object.name)) or ('Order - %s' % object.name)",
    { state: 'sale', name: 'S1' },
    'Order - S1',
  ],
  ["'%s of %s' % (object.name, object.ref)", { name: 'a%sb', ref: 'c' }, 'a%sb of c'],
  ["object.state != 'draft' and \"it's \" + object.name", { state: 'x', name: 'y' }, "it's y"],
  ["''", {}, null],
] as [string, Record<string, unknown>, string | null][])('%s of %j is %j', (expression, record, expected) => {
  expect(nameAttachment(expression, record)).toBe(expected);
});

test('lists the fields of all branches', () => {
  expect(listNamedFields(INVOICE)).toEqual(['state', 'name']);
  expect(listNamedFields("'a.pdf'")).toEqual([]);
});

test.each([
  "'check_'+(object.partner_id and object.partner_id.name or 'Internal')+'.pdf'",
  'time.strftime("%Y")',
  "object.name.upper() + '.pdf'",
  "'%d' % object.id",
  "__import__('os').system('id')",
  "object.name if object.name else 'x'",
  "object['name']",
  '(',
  "'a' 'b'",
  `${'('.repeat(2000)}'a'${')'.repeat(2000)}`,
])('an expression of another form has no name: %s', (expression) => {
  expect(listNamedFields(expression)).toBeNull();
  expect(nameAttachment(expression, { name: 'x', id: 7 })).toBeNull();
});

test('never throws, whatever the expression', () => {
  const parts = fc.constantFrom(
    ..."object . name ( ) [ ] , + % == != in or and replace 'a' '%s' \"b\" \\".split(' '),
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), (pieces) => {
      const expression = pieces.join(' ');
      const name = nameAttachment(expression, { name: 'S1' });
      expect(name === null || typeof name === 'string').toBe(true);
      if (listNamedFields(expression) === null && name !== null)
        throw new Error(`a name without known fields: ${expression}`);
    }),
    { numRuns: countCases(500) },
  );
});
