import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';
import type { JsonObject } from '../json/value.ts';

test('an order gets its number, its prices and its total from its contents', () => {
  const { call, readOne } = openEnvironment();
  const line = { product_id: 44, product_uom_qty: 2, discount: 10 };
  const id: number = call('sale.order', 'create', [{ partner_id: 10, order_line: [[0, 0, line]] }]);
  expect(readOne('sale.order', id, ['name', 'state', 'partner_id', 'amount_total'])).toMatchObject({
    name: 'S00010',
    state: 'draft',
    partner_id: [10, 'Deco Addict'],
    amount_total: { value: 531 },
  });
});

test('a confirmed order cannot be confirmed again or deleted, and cancelling opens a wizard', () => {
  const { call, readOne } = openEnvironment();
  expect(call('sale.order', 'action_confirm', [[1]])).toBe(true);
  expect(readOne('sale.order', 1, ['state'])['state']).toBe('sale');
  expect(() => call('sale.order', 'action_confirm', [[1]])).toThrow('not in a state requiring confirmation');
  expect(() => call('sale.order', 'unlink', [[1]])).toThrow('You must first cancel it');
  expect(call('sale.order', 'action_cancel', [[1]])).toMatchObject({ res_model: 'sale.order.cancel' });
});

test('19 cancels at once, 16 can confirm twice', () => {
  expect(openEnvironment(19).call('sale.order', 'action_cancel', [[4]])).toBe(true);
  expect(openEnvironment(16).call('sale.order', 'action_confirm', [[4]])).toBe(true);
});

test('a product and its template share values, whichever is written', () => {
  const { call, readOne } = openEnvironment();
  const id: number = call('product.product', 'create', [{ name: 'Shelf', list_price: 12.5 }]);
  call('product.product', 'write', [[id], { list_price: 13 }]);
  const shown = readOne('product.product', id, ['name', 'lst_price', 'product_tmpl_id']);
  expect(shown).toMatchObject({ name: 'Shelf', lst_price: { value: 13 } });
  const [template] = shown['product_tmpl_id'] as number[];
  expect(readOne('product.template', template!, ['product_variant_ids'])).toMatchObject({
    product_variant_ids: [id],
  });
});

test('groups of orders contain all of them', () => {
  const { call } = openEnvironment();
  const groups: { state: string; state_count: number }[] = call('sale.order', 'read_group', [
    [],
    ['amount_total:sum'],
    ['state'],
  ]);
  expect(groups.map((group) => group.state)).toEqual(['cancel', 'draft', 'sale', 'sent']);
  expect(groups.reduce((sum, group) => sum + group.state_count, 0)).toBe(9);
});

test.each([14, 16, 19] as const)(
  'a copy of an order has its lines, a new name and today as its date: %i',
  (version) => {
    const { environment, call, readOne } = openEnvironment(version);
    const fields = ['name', 'state', 'date_order', 'partner_id', 'amount_total'];
    const before = readOne('sale.order', 4, fields);
    const id = [call('sale.order', 'copy', [[4]])].flat()[0] as unknown as number;
    const after = readOne('sale.order', id, fields);
    expect(after).toEqual({ ...before, id, name: 'S00010', state: 'draft', date_order: environment.now });
    const lines = ['product_id', 'name', 'product_uom_qty', 'price_unit'];
    const readLines = (order: number) =>
      (call('sale.order.line', 'search_read', [[['order_id', '=', order]], lines]) as object[]).map(
        (line) => ({
          ...line,
          id: 0,
        }),
      );
    expect(readLines(id)).toEqual(readLines(4));
  },
);

describe('the dialog of action_cancel, from 16 to 18', () => {
  test.each(['action_cancel', 'action_send_mail_and_cancel'])('%s cancels the order', (method) => {
    const { call, readOne } = openEnvironment();
    const { res_model, context }: { res_model: string; context: JsonObject } = call(
      'sale.order',
      'action_cancel',
      [[5]],
    );
    const id: number = call(res_model, 'create', [{}], { context });
    expect(readOne(res_model, id, ['order_id', 'subject'])).toMatchObject({ subject: 'S00005 is cancelled' });
    expect(call(res_model, method, [[id]], { context })).toBe(true);
    const { state, message_ids } = readOne('sale.order', 5, ['state', 'message_ids']);
    expect([state, (message_ids as number[]).length]).toEqual(['cancel', method === 'action_cancel' ? 0 : 1]);
  });

  test('is skipped by a context, and 15 and 19 have none', () => {
    const { call, readOne } = openEnvironment();
    const context = { disable_cancel_warning: true };
    expect(call('sale.order', 'action_cancel', [[5]], { context })).toBe(true);
    expect(readOne('sale.order', 5, ['state'])['state']).toBe('cancel');
    for (const version of [15, 19] as const)
      expect(openEnvironment(version).environment.models.has('sale.order.cancel')).toBe(false);
  });
});

test.each([16, 18, 19] as const)(
  'the composer of a quotation posts its message and marks it as sent: %i',
  (version) => {
    const { call, readOne } = openEnvironment(version);
    const { res_model, context }: { res_model: string; context: JsonObject } = call(
      'sale.order',
      'action_quotation_send',
      [[1]],
    );
    const id = [call(res_model, 'create', [{}], { context })].flat()[0] as unknown as number;
    expect(call(res_model, 'action_send_mail', [[id]], { context })).toEqual({
      type: 'ir.actions.act_window_close',
    });
    const order = readOne('sale.order', 1, ['state', 'message_ids']);
    expect(order['state']).toBe('sent');
    const [message] = order['message_ids'] as number[];
    expect(readOne('mail.message', message!, ['subject', 'message_type'])).toMatchObject({
      subject: 'Quotation S00001',
      message_type: 'comment',
    });
  },
);

test('products have a category, which is named by its path', () => {
  const { call, readOne, search } = openEnvironment();
  expect(readOne('product.product', 14, ['categ_id'])['categ_id']).toEqual([
    4,
    'All / Saleable / Office Furniture',
  ]);
  expect(search('product.template', [['categ_id', 'child_of', 'Saleable']])).not.toContain(1);
  expect(search('product.template', [['categ_id', '=', 3]])).toEqual([1]);
  expect(() => call('product.category', 'write', [[1], { parent_id: 4 }])).toThrow('recursive categories');
});
