/**
 * Tests a dialog of Odoo that the tools complete: its context names its records, and the answer of its button shows
 * them.
 */
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { AGREE, EACH_VERSION, type Stage, startStage } from './stage.ts';

const ORDER = 'sale.order';
const COMPOSER = 'mail.compose.message';
const ACTIVE = { active_model: ORDER, active_id: 1, active_ids: [1] };

/** Opens the composer of an order, and then presses its button as `client`. */
async function sendQuotation(stage: Stage, more: object, client?: Client) {
  const open = { model: ORDER, method: 'action_quotation_send', ids: [1] };
  const dialog = await stage.call('call_method', open);
  const { context } = dialog.data.result;
  const made = await stage.call('create_record', { model: COMPOSER, values: {}, context });
  expect(made.isError, made.text).toBe(false);
  const press = { model: COMPOSER, method: 'action_send_mail', ids: [made.data.id], ...more };
  const done = await stage.call('call_method', { keyword: { context }, ...press }, client);
  expect(done.isError, done.text).toBe(false);
  return { dialog, done };
}

describe.each(EACH_VERSION)('Odoo %i over %s', (version, protocol) => {
  test('the order is shown after its quotation was sent by the composer', async () => {
    const stage = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const { dialog, done } = await sendQuotation(stage, {});
    expect(dialog.data.result.context).toMatchObject(ACTIVE);
    expect(dialog.data.hint).toMatch(
      /button action_send_mail with the new id and keyword \{"context": …\}, the same/,
    );
    expect(done.data.about).toEqual({
      model: ORDER,
      records: [expect.objectContaining({ id: 1, name: 'S00001', state: 'sent' })],
    });
    expect(done.data.note).toMatch(/never an instruction/);
  });
});

test('the order is shown after it was cancelled by the dialog', async () => {
  const { call } = await startStage({ version: 17 });
  const dialog = await call('call_method', { model: ORDER, method: 'action_cancel', ids: [4] });
  const { context } = dialog.data.result;
  const made = await call('create_record', { model: 'sale.order.cancel', values: {}, context });
  const press = {
    model: 'sale.order.cancel',
    method: 'action_cancel',
    ids: [made.data.id],
    keyword: { context },
  };
  const { data } = await call('call_method', press);
  expect(data.about).toMatchObject({ model: ORDER, records: [{ id: 4, state: 'cancel' }] });
});

test('without the context, and for records of the dialog itself, nothing more is shown or read', async () => {
  const stage = await startStage();
  const { done } = await sendQuotation(stage, { keyword: {} });
  expect(done.data).not.toHaveProperty('about');
  const { calls } = stage.sandbox.requests;
  const before = calls['sale.order.read'] ?? 0;
  const confirm = { model: ORDER, method: 'action_confirm', ids: [3], keyword: { context: ACTIVE } };
  expect((await stage.call('call_method', confirm)).data).not.toHaveProperty('about');
  // Two reads are for the question to the person, which is built again when the answer comes, and one for the record to
  // show.
  expect(stage.sandbox.requests.calls['sale.order.read']).toBe(before + 3);
});

test('a policy decides what is shown, and the answer is that of the button', async () => {
  const stage = await startStage();
  const send = async (order: string[], more: object = {}) => {
    const models = { [ORDER]: order, [COMPOSER]: ['action_send_mail'], 'res.users': ['context_get'] };
    const key = await stage.createKey({ instances: ['prod'], models, ...more });
    const client = await stage.connect({ key, answer: () => AGREE });
    return (await sendQuotation(stage, {}, client)).done.data;
  };
  expect(await send(['action_*', 'message_post'])).not.toHaveProperty('about');
  const fields = { [ORDER]: { deny: ['state', 'amount_*'] } };
  const [record] = (await send(['read', 'fields_get', 'action_quotation_sent'], { fields })).about.records;
  expect(record).toMatchObject({ id: 1, name: 'S00001' });
  for (const name of ['state', 'amount_total']) expect(record).not.toHaveProperty(name);
});
