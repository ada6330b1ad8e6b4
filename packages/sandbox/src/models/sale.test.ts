import { expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';

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
