import { expect, test } from 'vitest';
import { readButtons } from './list-buttons.ts';
import { findActive, findUnknownDialog, showAction } from './show-action.ts';

const ORDERS = { model: 'sale.order', ids: [4, 5] };
const ACTIVE = { active_model: 'sale.order', active_id: 4, active_ids: [4, 5] };
const DIALOG = { type: 'ir.actions.act_window', res_model: 'x.dialog', target: 'new' };

const openDialog = (context: unknown, called = ORDERS) =>
  (showAction({ ...DIALOG, context }, called, () => true)!.shown as Record<string, unknown>)['context'];

test('the context of a dialog names the records whose method opened it, unless Odoo names others', () => {
  expect(openDialog({ default_a: 1 })).toEqual({ ...ACTIVE, default_a: 1 });
  // Odoo sends the context of a stored action as Python text.
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

test('a dialog whose record exists is completed there, and not by another record', () => {
  const sms = { ...DIALOG, res_model: 'confirm.stock.sms', res_id: 7, context: { a: 1 } };
  // `mayCreate` is false, because no record needs to be created.
  const { hint } = showAction(sms, { model: 'stock.picking', ids: [4] }, () => false)!;
  expect(hint).toContain(
    'call_method {"model": "confirm.stock.sms", "method": …, "ids": [7], "keyword": {"context": …}}',
  );
  expect(hint).toContain('dont_send_sms');
  expect(hint).not.toContain('create_record');
});

test('a dialog that only warns is spared by the context of the same call', () => {
  const { hint } = showAction({ ...DIALOG, res_model: 'sale.order.cancel' }, ORDERS, () => true)!;
  expect(hint).toContain(
    'The same call of sale.order again, with keyword {"context": {"disable_cancel_warning":true}}',
  );
});

test('the dialog of a delivery spares the dialog behind it', () => {
  const action = {
    ...DIALOG,
    res_model: 'stock.immediate.transfer',
    context: { default_pick_ids: [[4, 4]] },
  };
  const { shown, hint } = showAction(action, { model: 'stock.picking', ids: [4] }, () => true)!;
  expect(shown).toMatchObject({ context: { default_pick_ids: [[4, 4]], skip_sms: true } });
  expect(hint).toContain('its button process with the new id');
});

test('the buttons of an unknown dialog are looked up by its view', () => {
  const find = (more: object) => findUnknownDialog({ ...DIALOG, ...more });
  expect(find({ view_id: [12, 'form'] })).toEqual({ model: 'x.dialog', viewId: 12 });
  expect(find({ view_id: 12 })).toEqual({ model: 'x.dialog', viewId: 12 });
  expect(
    find({
      views: [
        [false, 'list'],
        [13, 'form'],
      ],
    }),
  ).toEqual({ model: 'x.dialog', viewId: 13 });
  expect(find({ view_id: false })).toEqual({ model: 'x.dialog', viewId: null });
  for (const known of [{ target: 'current' }, { res_model: 'account.payment.register' }, { type: 'x' }])
    expect(find(known)).toBeNull();
  const { hint } = showAction(DIALOG, ORDERS, () => true, ['apply (“Apply”)'])!;
  expect(hint).toContain('its button apply (“Apply”) with the new id');
});

test('the buttons of a form are those that call a method', () => {
  const arch = `<form><button name="apply" string="Apply &amp; go" type="object" class="btn"/>
    <button string="Cancel" special="cancel"/><button name="12" type="action" string="Open"/>
    <button type="object" name="skip"><span>Skip</span></button></form>`;
  expect(readButtons(arch)).toEqual(['apply (“Apply & go”)', 'skip']);
});
