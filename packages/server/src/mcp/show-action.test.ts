import { expect, test } from 'vitest';
import { findActive, showAction } from './show-action.ts';

const ORDERS = { model: 'sale.order', ids: [4, 5] };
const ACTIVE = { active_model: 'sale.order', active_id: 4, active_ids: [4, 5] };
const DIALOG = { type: 'ir.actions.act_window', res_model: 'x.dialog', target: 'new' };

const openDialog = (context: unknown, called = ORDERS) =>
  (showAction({ ...DIALOG, context }, called, () => true)!.shown as Record<string, unknown>)['context'];

test('the context of a dialog names the records whose method opened it, unless Odoo names others', () => {
  expect(openDialog({ default_a: 1 })).toEqual({ ...ACTIVE, default_a: 1 });
  // Odoo gives the context of a stored action as text of Python.
  expect(openDialog("{'default_a': 1}")).toEqual(ACTIVE);
  expect(openDialog({ active_id: 9, active_ids: [9] })).toEqual({ ...ACTIVE, active_id: 9, active_ids: [9] });
  expect(openDialog({}, { ...ORDERS, ids: [] })).toBeUndefined();
});

test('the records of a context are those of another model than the dialog', () => {
  expect(findActive(ACTIVE, 'x.dialog')).toEqual(ORDERS);
  expect(findActive({ active_model: 'sale.order', active_id: 4 }, 'x.dialog')).toEqual({
    ...ORDERS,
    ids: [4],
  });
  const wrong: Record<string, unknown>[] = [
    { active_id: 1 },
    { active_model: 'sale.order' },
    { active_model: 'sale.order', active_id: '1' },
    { active_model: 'sale.order', active_id: 0 },
    { active_model: 'sale.order', active_ids: [1, false] },
    { active_model: 'sale.order', active_ids: 'x' },
    { active_model: 'x"y', active_id: 1 },
    { active_model: { toString: 1 }, active_ids: [1] },
    { active_model: 'x.dialog', active_id: 1 },
  ];
  for (const context of wrong) expect(findActive(context, 'x.dialog'), JSON.stringify(context)).toBeNull();
});

test('the button that reverses an invoice has another name up to 16', () => {
  const { hint } = showAction({ ...DIALOG, res_model: 'account.move.reversal' }, ORDERS, () => true)!;
  expect(hint).toContain('its button refund_moves (up to 16: reverse_moves) with the new id');
});
