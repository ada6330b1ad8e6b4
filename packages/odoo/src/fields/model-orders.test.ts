import { expect, test } from 'vitest';
import { findModelOrder, readModelOrders } from './model-orders.ts';

const read = (text: string) => readModelOrders(Buffer.from(text));

test('reads the orders of records of `ir.model`, and leaves out those without', () => {
  const orders = read(
    '[{"id": 1, "model": "sale.order", "order": "date_order desc, id desc"}, {"model": "a.b", "order": false}, 5]',
  );
  expect([...orders!]).toEqual([['sale.order', 'date_order desc, id desc']]);
  expect(read('{"a": 1}')).toBe(null);
  expect(read('[')).toBe(null);
});

test('leaves out texts that are longer than any order or name of a model: they would be kept', () => {
  const long = 'a'.repeat(1000);
  const orders = read(
    `[{"model": "x.long", "order": "${long}"}, {"model": "${long}", "order": "id"}, {"model": "x.short", "order": "id"}]`,
  );
  expect([...orders!.keys()]).toEqual(['x.short']);
});

test('the order that the server describes counts, then that of the table', () => {
  const known = new Map([['sale.order', 'x_rank desc nulls last, partner_id.id']]);
  expect(findModelOrder(known, 'sale.order')).toEqual({
    paths: [['x_rank'], ['partner_id', 'id']],
    isUsual: false,
  });
  expect(findModelOrder(known, 'sale.order.line')).toEqual({
    paths: [['order_id'], ['sequence'], ['id']],
    isUsual: true,
  });
  expect(findModelOrder(known, 'x.custom')).toBe(null);
});

test('an order that cannot be read is not known', () => {
  expect(findModelOrder(new Map([['sale.order', 'lower(name)']]), 'sale.order')).toBe(null);
});
