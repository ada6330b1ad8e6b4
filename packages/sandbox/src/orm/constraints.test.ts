import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';
import type { Fault } from './fault.ts';

function catchFault(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    return error as Fault;
  }
  throw new Error('nothing was raised');
}

describe('a row is refused', () => {
  const { call } = openEnvironment();
  test.each([
    ['without a required value', 'crm.tag', {}, 'Field: Tag Name (name)'],
    ['with the name of another', 'crm.tag', { name: 'Services' }, 'Tag name already exists!'],
    ['that breaks a check', 'res.partner', { type: 'contact' }, 'Contacts require a name'],
    [
      'that links to nothing',
      'res.partner',
      { name: 'x', country_id: 999999 },
      'Constraint: res_partner_country_id_fkey',
    ],
  ])('%s', (_, model, values, text) => {
    const fault = catchFault(() => call(model, 'create', [[values]]));
    expect(fault.name).toBe('odoo.exceptions.ValidationError');
    expect(fault.message).toContain(text);
  });

  test('with a cycle of parents, of any length', () => {
    expect(() => call('res.partner', 'write', [[14], { parent_id: 34 }])).toThrow(
      'recursive Partner hierarchies',
    );
  });

  test('with an unknown field, an invalid selection, an invalid date', () => {
    expect(() => call('res.partner', 'create', [{ name: 'x', nope: 1 }])).toThrow("Invalid field 'nope'");
    expect(() => call('res.partner', 'write', [[3], { type: 'zzz' }])).toThrow(
      "Wrong value for res.partner.type: 'zzz'",
    );
    expect(() => call('sale.order', 'write', [[1], { validity_date: '2031-02-30' }])).toThrow('out of range');
  });
});

test('16 fails on its own message for unique constraints', () => {
  const fault = catchFault(() => openEnvironment(16).call('crm.tag', 'create', [[{ name: 'Services' }]]));
  expect([fault.name, fault.message]).toEqual(['builtins.KeyError', 'lang']);
});

test('an error rolls back everything that the request did', () => {
  const { call, search, readOne } = openEnvironment();
  const values = [
    { name: 'Fine', child_ids: [[0, 0, { name: 'Kid' }]] },
    { name: 'Bad', country_id: 999999 },
  ];
  expect(() => call('res.partner', 'create', [values])).toThrow();
  expect(search('res.partner', [['name', 'in', ['Fine', 'Kid', 'Bad']]])).toEqual([]);
  expect(() => call('res.partner', 'write', [[9, 99999999], { name: 'Changed' }])).toThrow('does not exist');
  expect(readOne('res.partner', 9, ['name'])).toEqual({ id: 9, name: 'Wood Corner' });
});

test('deleting a record unlinks, deletes, or is refused because of the records that refer to it', () => {
  const { call, readOne, search } = openEnvironment();
  call('res.partner', 'unlink', [[14]]);
  expect(readOne('res.partner', 34, ['parent_id'])).toEqual({ id: 34, parent_id: false });
  call('sale.order', 'unlink', [[1]]);
  expect(search('sale.order.line', [['order_id', '=', 1]])).toEqual([]);
  expect(() => call('res.country', 'unlink', [[233]])).toThrow('fkey');
});
