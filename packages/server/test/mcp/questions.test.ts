/** Tests what the question to a person says about the call: the records, what is done with them, and all arguments. */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { startStage } from './stage.ts';

async function startAsking(policy?: Policy) {
  const stage = await startStage();
  let question = '';
  const client = await stage.connect({
    ...(policy === undefined ? {} : { key: await stage.createKey(policy) }),
    answer: (message) => {
      question = message;
      return { action: 'decline' };
    },
  });
  return {
    ...stage,
    async ask(tool: string, args: object) {
      question = '';
      await stage.call(tool, args, client);
      return question;
    },
  };
}

const S00004 = '“S00004” (id 4, “Gemini Furniture”, “Sales Order”)';
const ORDER = `of sale.order on prod: ${S00004}`;

test('well-known methods are named in plain words, others by their name', async () => {
  const { ask } = await startAsking();
  const askFor = (method: string, more: object = {}) =>
    ask('call_method', { model: 'sale.order', method, ids: [4], ...more });
  expect(await askFor('action_confirm')).toBe(`Confirm one quotation ${ORDER}?`);
  expect(await askFor('action_cancel', { ids: [4, 5] })).toBe(
    `Cancel 2 orders of sale.order on prod: ${S00004}, “S00005” (id 5, “Azure Interior”, “Quotation Sent”)?`,
  );
  expect(await askFor('message_post', { keyword: { body: 'We deliver on Monday.' } })).toBe(
    `Post a note on one record ${ORDER}: “We deliver on Monday.”?`,
  );
  expect(await askFor('unlink')).toBe(`Delete for good: one record ${ORDER}?`);
  expect(await askFor('action_lock')).toBe(`Call action_lock for one record ${ORDER}?`);
  const post = { model: 'account.move', method: 'action_post', ids: [4] };
  expect(await ask('call_method', post)).toBe('Post one invoice of account.move on prod: id 4?');
});

test('a record is named by what the key may read of it', async () => {
  const askBy = async (policy: object) => {
    const models = { '*': ['*'], 'sale.order': ['action_lock'] };
    const { ask } = await startAsking({ instances: ['prod'], models, ...policy });
    return ask('call_method', { model: 'sale.order', method: 'action_lock', ids: [4] });
  };
  const lock = (told: string) => `Call action_lock for one record of sale.order on prod: “S00004” (${told})?`;
  expect(await askBy({ fields: { 'sale.order': { deny: ['state'] } } })).toBe(
    lock('id 4, “Gemini Furniture”'),
  );
  expect(await askBy({ fields: { 'res.partner': { deny: ['name'] } } })).toBe(lock('id 4, “Sales Order”'));
  // Without the right to read the fields of the model, only the id is shown.
  expect(await askBy({ models: { 'sale.order': ['read', 'action_lock'] } })).toBe(lock('id 4'));
});

test('the button of a well-known dialog is named by what it does', async () => {
  const { ask, call } = await startAsking();
  const context = { active_model: 'sale.order', active_id: 4, default_order_id: 4 };
  const { data } = await call('create_record', { model: 'sale.order.cancel', values: {}, context });
  const press = { model: 'sale.order.cancel', method: 'action_cancel', ids: [data.id], keyword: { context } };
  expect(await ask('call_method', press)).toMatch(
    /^Cancel orders by one dialog of sale\.order\.cancel on prod: .+, with \{context: \{active_model: “sale\.order”, active_id: 4, /,
  );
});

test('the question has all arguments', async () => {
  const { ask } = await startAsking();
  const call = { model: 'sale.order', method: 'action_lock', ids: [4] };
  const keyword = { reason: 'Late', lines: [1, 2.5, null], deep: { 'a b': { c: true } }, context: { x: 1 } };
  expect(await ask('call_method', { ...call, arguments: ['now'], keyword })).toBe(
    `Call action_lock for one record ${ORDER}, with [“now”] and {reason: “Late”, lines: [1, 2.5, null], deep: {“a b”: {c: true}}, context: {x: 1}}?`,
  );
  const message = { ...call, method: 'message_post', keyword: { body: 'Hello', partner_ids: [3] } };
  expect(await ask('call_method', message)).toBe(
    `Post a note on one record ${ORDER}: “Hello”, to “YourCompany, Mitchell Admin” (id 3), with {partner_ids: [3]}?`,
  );
  const values = { order_line: { delete: [1] } };
  expect(await ask('update_records', { model: 'sale.order', ids: [4], values })).toBe(
    `Remove records of lists for good, of one record ${ORDER}, removing from order_line: “S00001 - Corner Desk Left Sit (Deco Addict)” (id 1, “S00001”, “Quotation”), with {order_line: {delete: [1]}}?`,
  );
  expect(await ask('create_record', { model: 'sale.order', values: [{ partner_id: 10, ...values }] })).toBe(
    'Create a record, and remove others for good: sale.order on prod, with [{partner_id: 10, order_line: {delete: [1]}}]?',
  );
  expect(await ask('create_record', { model: 'sale.order', values: [{ partner_id: 11 }, values] })).toBe(
    'Create 2 records, and remove others for good: sale.order on prod, with [{partner_id: 11}, {order_line: {delete: [1]}}]?',
  );
});

test('an argument cannot pretend to be the rest of the question', async () => {
  const { ask } = await startAsking();
  const hostile = 'Hi”? \n\nThis changes "nothing".\u202e\u200b\u2028〞＂\u3164\u3164 “';
  const shown = "“Hi'? This changes 'nothing'. ' '”";
  const call = { model: 'sale.order', method: 'message_post', ids: [4] };
  expect(await ask('call_method', { ...call, keyword: { body: hostile } })).toBe(
    `Post a note on one record ${ORDER}: ${shown}?`,
  );
  expect(await ask('call_method', { ...call, keyword: { [hostile]: [hostile] } })).toBe(
    `Post a note on one record ${ORDER}, with {${shown}: [${shown}]}?`,
  );
});

test('no other mark, and no pair of marks, looks like the end of a text', async () => {
  const { ask } = await startAsking();
  const call = { model: 'sale.order', method: 'message_post', ids: [4] };
  for (const mark of [
    "''",
    '’’',
    '′′',
    '’‘',
    'ʺ',
    'ˮ',
    '˝',
    '״',
    '\u2e42',
    '\u{1f677}',
    '’”',
    '”’',
    '“’”’',
  ]) {
    const body = `Hi${mark} (id 4)? It’s done`;
    expect(await ask('call_method', { ...call, keyword: { body } }), mark).toBe(
      `Post a note on one record ${ORDER}: “Hi' (id 4)? It’s done”?`,
    );
  }
});

test('no text can hide a part of the question from a client that renders Markdown or HTML', async () => {
  const { ask } = await startAsking();
  const call = { model: 'sale.order', method: 'message_post', ids: [4] };
  const keyword = { a: '<!-- &#8238; &lt R&D, A & B', partner_ids: [3], b: '[x](y "', c: '\\[z][1] -->' };
  expect(await ask('call_method', { ...call, keyword })).toBe(
    `Post a note on one record ${ORDER}, to “YourCompany, Mitchell Admin” (id 3), with {a: “＜!-- ＆#8238; ＆lt R＆D, A & B”, partner_ids: [3], b: “[x］(y '”, c: “＼[z］[1] -->”}?`,
  );
});

test('texts from right to left do not turn the order of what is beside them', async () => {
  const { ask } = await startAsking();
  const call = { model: 'sale.order', method: 'action_lock', ids: [4] };
  expect(await ask('call_method', { ...call, arguments: ['שלום', 100, 'مرحبا', 900, 'x'] })).toBe(
    `Call action_lock for one record ${ORDER}, with [“\u2068שלום\u2069”, 100, “\u2068مرحبا\u2069”, 900, “x”]?`,
  );
});

test('long arguments are cut before others are left out', async () => {
  const { ask } = await startAsking();
  const values = {
    note: 'x'.repeat(5000),
    client_order_ref: 'y'.repeat(5000),
    order_line: { delete: [1, 2] },
  };
  expect(await ask('update_records', { model: 'sale.order', ids: [4], values })).toBe(
    `Remove records of lists for good, of one record ${ORDER}, removing from order_line: “S00001 - Corner Desk Left Sit (Deco Addict)” (id 1, “S00001”, “Quotation”), “S00001 - Office Chair (Deco Addict)” (id 2, “S00001”, “Quotation”), with {note: “${'x'.repeat(200)}…” (cut, 5000 characters), client_order_ref: “${'y'.repeat(200)}…” (cut, 5000 characters), order_line: {delete: [1, 2]}}?`,
  );
});

test('long arguments are cut, and the cut is marked outside of the text', async () => {
  const { ask } = await startAsking();
  const call = { model: 'sale.order', method: 'message_post', ids: [4] };
  const body = 'x'.repeat(5000);
  expect(await ask('call_method', { ...call, keyword: { body } })).toBe(
    `Post a note on one record ${ORDER}: “${'x'.repeat(1000)}…” (cut, 5000 characters)?`,
  );
  const many = Array.from({ length: 200 }, (_, index) => ({ [`name${index}`]: 'y'.repeat(900) }));
  const question = await ask('call_method', { ...call, arguments: [many], keyword: { body, many } });
  expect(question).toContain('… (cut, 200 in all)');
  expect(question.length).toBeLessThan(4000);
  const invisible = '\u200b'.repeat(300_000);
  expect(await ask('call_method', { ...call, keyword: { body: `${invisible}Delete all` } })).toContain(
    ': “…” (cut, 300010 characters)?',
  );
  const deep = JSON.parse(`${'['.repeat(50)}1${']'.repeat(50)}`);
  expect(await ask('call_method', { ...call, arguments: deep })).toMatch(
    /, with \[\[\[\[\[\[… \(cut\)\]{6}\?$/,
  );
});

test('a message names those who get it by mail, as far as the key may read them', async () => {
  const post = (more: object) => ({
    model: 'sale.order',
    method: 'message_post',
    ids: [4],
    keyword: { body: 'Hello', subtype_xmlid: 'mail.mt_comment', ...more },
  });
  const askBy = async (policy: Policy | undefined, followers: readonly number[], more: object = {}) => {
    const { ask, call } = await startAsking(policy);
    const values = { message_partner_ids: { set: followers } };
    await call('update_records', { model: 'sale.order', ids: [4], values });
    const question = await ask('call_method', post(more));
    return /: “Hello”(.*), with \{/.exec(question)?.[1];
  };
  const only = (models: Policy['models'], fields?: Policy['fields']): Policy => ({
    instances: ['prod'],
    models,
    ...(fields === undefined ? {} : { fields }),
  });
  const all = { '*': ['*'], 'sale.order': ['message_post'] };
  const GEMINI = '“Gemini Furniture” (id 11)';
  const LUMBER = '“Lumber Inc” (id 14)';
  expect(await askBy(undefined, [11, 14])).toBe(`, with mail to its followers ${GEMINI}, ${LUMBER}`);
  expect(await askBy(undefined, [11], { partner_ids: [14] })).toBe(
    `, to ${LUMBER}, with mail to its followers ${GEMINI}`,
  );
  expect(await askBy(undefined, [])).toBe('');
  expect(await askBy(undefined, [10, 11, 12, 14, 15, 40])).toMatch(/\(id 40\) and others$/);
  expect(await askBy(only({ 'sale.order': ['*'] }), [11, 14])).toBe(', with mail to its 2 followers');
  expect(await askBy(only(all, { 'sale.order': { deny: ['message_partner_ids'] } }), [11])).toBe(
    ', with mail to its followers',
  );
  expect(await askBy(only(all, { 'res.partner': { deny: ['name'] } }), [11])).toBe(
    ', with mail to its followers',
  );
  // Only the named partners get a note.
  expect(await askBy(undefined, [11], { subtype_xmlid: 'mail.mt_note', partner_ids: [14] })).toBe(
    `, to ${LUMBER}`,
  );
});

test('the records that a dialog is about are named', async () => {
  const { ask, call } = await startAsking();
  const context = { active_model: 'sale.order', active_id: 4, default_order_id: 4 };
  const { data } = await call('create_record', { model: 'sale.order.cancel', values: {}, context });
  const press = { model: 'sale.order.cancel', method: 'action_cancel', ids: [data.id], keyword: { context } };
  expect(await ask('call_method', press)).toContain(
    `, for one record of sale.order: ${S00004}, with {context`,
  );
});

test('records that leave a list are named, also those that a command does not name', async () => {
  const { ask, call } = await startAsking();
  const read = { model: 'sale.order', ids: [1], fields: ['order_line'] };
  const [{ order_line: lines }] = (await call('read_records', read)).data.records;
  expect(lines.length).toBeGreaterThan(1);
  const removed = async (values: object) => {
    const question = await ask('update_records', { model: 'sale.order', ids: [1], values });
    return [
      ...(/removing from order_line: (.*), with \{/.exec(question)?.[1] ?? '').matchAll(/\(id (\d+)/g),
    ].map(([, id]) => Number(id));
  };
  expect(await removed({ order_line: { set: [] } })).toEqual(lines);
  expect(await removed({ order_line: { set: [lines[0]] } })).toEqual(lines.slice(1));
  expect(await removed({ order_line: [[5]] })).toEqual(lines);
  expect(await removed({ order_line: [[6, 0, [lines[1]]]] })).not.toContain(lines[1]);
  expect(await removed({ order_line: null })).toEqual(lines);
  expect(await removed({ order_line: { remove: [lines[0]] } })).toEqual([lines[0]]);
});

test('a name in Odoo cannot pretend to be the rest of the question', async () => {
  const { ask, call } = await startAsking();
  const name = `Hi”? \n\nYes \u202e\u200b<b> ${'x'.repeat(300)}`;
  await call('update_records', { model: 'res.partner', ids: [11], values: { name } });
  const question = await ask('call_method', {
    model: 'sale.order',
    method: 'message_post',
    ids: [4],
    keyword: { body: 'Hello', partner_ids: [11] },
  });
  expect(question).not.toMatch(/[\n\u202e\u200b<]/);
  expect(question.match(/[“”]/g)?.length).toBe(10);
  expect(question.length).toBeLessThan(600);
});
