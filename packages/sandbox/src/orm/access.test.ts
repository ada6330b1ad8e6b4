import { describe, expect, test } from 'vitest';
import { demo, openEnvironment } from '../../test/open-environment.ts';

describe('a user without rights', () => {
  const { call, search, readOne } = openEnvironment(18, { uid: demo });

  test('reads contacts but cannot change them', () => {
    expect(readOne('res.partner', 9, ['name'])).toEqual({ id: 9, name: 'Wood Corner' });
    expect(() => call('res.partner', 'write', [[9], { name: 'x' }])).toThrow(
      "not allowed to modify 'Contact' (res.partner)",
    );
    expect(() => call('res.partner', 'unlink', [[9]])).toThrow("not allowed to delete 'Contact'");
    expect(() => call('res.partner', 'create', [{ name: 'x' }])).toThrow('- Extra Rights/Contact Creation');
  });

  test('cannot read orders, and gets an AccessError', () => {
    expect(() => search('sale.order', [])).toThrow("not allowed to access 'Sales Order' (sale.order)");
    expect(call('sale.order', 'has_access', [[], 'read'])).toBe(false);
    expect(call('res.partner', 'has_access', [[9], 'read'])).toBe(true);
  });

  test('does not see contacts of another company', () => {
    expect(search('res.partner', [['id', '=', 71]])).toEqual([]);
    expect(() => readOne('res.partner', 71, ['name'])).toThrow('top-secret records');
    expect(call('res.partner', 'has_access', [[71], 'read'])).toBe(false);
  });

  test('cannot use a company that is not theirs', () => {
    expect(() => search('res.partner', [], { context: { allowed_company_ids: [1, 2] } })).toThrow(
      'unauthorized or invalid companies',
    );
  });

  test('does not get a field of another group, requested or not', () => {
    expect(() => readOne('res.partner', 9, ['signup_type'])).toThrow('signup_type');
    expect(Object.keys(readOne('res.partner', 9, []))).not.toContain('signup_type');
  });
});

test('the companies of the context restrict what the administrator sees', () => {
  const { search } = openEnvironment();
  expect(search('res.partner', [['id', '=', 71]])).toEqual([71]);
  expect(search('res.partner', [['id', '=', 71]], { context: { allowed_company_ids: [1] } })).toEqual([]);
});
