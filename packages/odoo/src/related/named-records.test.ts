/** Records of any model that a call names, so that Odoo shows their names in its own records. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../test/read-arguments.ts';
import { findSensitivity } from '../sensitive/sensitive-methods.ts';
import { findNamedRecord } from './named-records.ts';
import { findRelatedWrites } from './related-writes.ts';

/** The first change or read that is denied if these models may be read and every other method is allowed. */
function find(name: string, params: string, keyword = '{}', readable: readonly string[] = []) {
  const [model = '', method = ''] = name.split('/');
  const allows = (of: string, what: string) => what !== 'read' || readable.includes(of);
  return findRelatedWrites(model, method, readArguments(params, keyword), allows).found;
}

describe('the model that a record names must be one that may be read', () => {
  test.each([
    ['mail.activity/create', '[{"summary": "a", "res_model": "res.users", "res_id": 2}]', '{}'],
    ['mail.activity/create', '[[{"r\\u0065s_model": "res.users"}]]', '{}'],
    ['mail.activity/create', '[{}]', '{"context": {"default_res_model": "res.users", "default_res_id": 2}}'],
    ['mail.activity/web_save', '[[], {"res_model": "res.users"}, {}]', '{}'],
    ['mail.activity/onchange', '[[], {"res_model": "res.users", "res_id": 2}, [], {"res_name": {}}]', '{}'],
    ['ir.attachment/write', '[[1], {"res_model": "res.users", "res_id": 2}]', '{}'],
    ['mail.followers/create', '[{"res_model": "res.users", "res_id": 2, "partner_id": 3}]', '{}'],
    ['mail.message/create', '[{"model": "res.users", "res_id": 2}]', '{}'],
    ['rating.rating/create', '[{"parent_res_model": "res.users", "parent_res_id": 2}]', '{}'],
    ['loyalty.history/create', '[{"order_model": "res.users", "order_id": 2}]', '{}'],
    ['product.document/create', '[{"res_model": "res.users", "res_id": 2}]', '{}'],
    ['crm.lead/message_post', '[[1]]', '{"context": {"default_res_model": "res.users"}}'],
    ['crm.lead/activity_schedule', '[[1]]', '{"res_model": "res.users", "res_id": 2}'],
    // Defaults that are read from another record.
    ['res.partner/default_get', '[["street"]]', '{"context": {"active_model": "res.users", "active_id": 2}}'],
    ['x.wizard/create', '[{}]', '{"context": {"params": {"active_m\\u006fdel": "res.users"}}}'],
    ['crm.lead/write', '[[1], {"activity_ids": [[0, 0, {"res_model": "res.users"}]]}]', '{}'],
    ['project.project/write', '[[1], {"task_properties_definition": [{"comodel": "res.users"}]}]', '{}'],
    [
      'project.task/create',
      '[{}]',
      '{"context": {"default_a": [{"type": "many2one", "comodel": "res.users"}]}}',
    ],
  ])('%s %s %s', (name, params, keyword) => {
    expect(find(name, params, keyword)).toMatchObject({ model: 'res.users', method: 'read' });
    expect(find(name, params, keyword, ['res.users'])).toBeNull();
  });
});

describe('a file that is the value of a field of a record needs that the model of the record may be written', () => {
  const ask = (
    name: string,
    params: string,
    keyword: string,
    allows: (of: string, what: string) => boolean,
  ) => {
    const [model = '', method = ''] = name.split('/');
    return findRelatedWrites(model, method, readArguments(params, keyword), allows).found;
  };

  test.each([
    ['ir.attachment/create', '[{"res_model": "res.partner", "res_id": 2, "res_field": "image_1920"}]', '{}'],
    ['ir.attachment/create', '[[{"res_fi\\u0065ld": "image_1920", "res_model": "res.partner"}]]', '{}'],
    ['ir.attachment/create', '[{"res_field": "a"}]', '{"context": {"default_res_model": "res.partner"}}'],
    ['ir.attachment/web_save', '[[], {"res_model": "res.partner", "res_field": "a"}, {}]', '{}'],
    ['ir.attachment/copy', '[1, {"res_model": "res.partner", "res_field": "a"}]', '{}'],
    [
      'crm.lead/message_post',
      '[[1]]',
      '{"context": {"default_res_field": "a", "default_res_model": "res.partner"}}',
    ],
  ])('%s %s %s', (name, params, keyword) => {
    expect(ask(name, params, keyword, (of, what) => of !== 'res.partner' || what !== 'write')).toMatchObject({
      model: 'res.partner',
      method: 'write',
    });
    expect(ask(name, params, keyword, (of) => of !== '*')).toBeNull();
  });

  test.each([
    ['ir.attachment/write', '[[1], {"res_field": "image_1920"}]'],
    ['ir.attachment/load', '[["name", "res_field"], [["a", "image_1920"]]]'],
  ])('which must be all models if the call does not name it: %s %s', (name, params) => {
    expect(ask(name, params, '{}', (of) => of !== '*')).toMatchObject({ names: 'res_field' });
    expect(ask(name, params, '{}', () => true)).toBeNull();
  });

  test('other models can have a field of this name', () => {
    expect(ask('x_fleet.car/create', '[{"res_field": "a"}]', '{}', () => false)).toBeNull();
    expect(ask('ir.attachment/create', '[{"res_field": false}]', '{}', () => false)).toBeNull();
  });
});

describe('a model that cannot be told is refused, unless all may be read', () => {
  test.each([
    ['mail.activity/create', '[{"res_model_id": 80, "res_id": 2}]', 'res_model_id'],
    ['mail.activity/create', '[{"res_model": "crm.lead", "res_model_id": 80}]', 'res_model_id'],
    ['rating.rating/write', '[[1], {"parent_res_model_id": 80}]', 'parent_res_model_id'],
    ['ir.attachment/write', '[[1], {"res_id": 2}]', 'res_id'],
    ['ir.attachment/copy', '[1, {"res_id": 2}]', 'res_id'],
    ['ir.attachment/write', '[[1], {"res_id": 2, "res_model": false}]', 'res_id'],
    // The model's name must be among the same values as the id.
    ['ir.attachment/write', '[[1], {"res_id": 2, "a": [[0, 0, {"res_model": "crm.lead"}]]}]', 'res_id'],
    ['ir.attachment/web_save', '[[1], {"res_id": 2}, {"res_model": "crm.lead"}]', 'res_id'],
    ['ir.attachment/load', '[["name", "res_model"], [["a", "res.users"]]]', 'res_model'],
  ])('%s %s', (name, params, names) => {
    expect(find(name, params, '{}', ['crm.lead'])).toMatchObject({ names });
    expect(find(name, params, '{}', ['crm.lead', '*'])).toBeNull();
  });
});

test('the model of the call itself may be the active one', () => {
  const context = '{"context": {"active_model": "crm.lead", "active_ids": [1]}}';
  expect(find('crm.lead/create', '[{}]', context)).toBeNull();
  expect(find('res.partner/create', '[{}]', context)).toMatchObject({ model: 'crm.lead', method: 'read' });
  // A button of a dialog takes no defaults.
  expect(find('mail.compose.message/action_send_mail', '[[1]]', context)).toBeNull();
});

test.each([
  ['mail.activity/create', '[{"summary": "a", "res_id": 2, "user_id": 3}]'],
  ['mail.activity/write', '[[1], {"summary": "a", "res_id": false, "res_model": ""}]'],
  ['ir.attachment/write', '[[1], {"res_model": "crm.lead", "res_id": 2}]'],
  ['ir.attachment/web_save', '[[1], {"res_model": "crm.lead", "res_id": 2}, {"res_id": {}}]'],
  ['maintenance.equipment/write', '[[1], {"model": "Model A"}]'],
  ['crm.lead/create', '[{"name": "comodel"}]'],
  ['crm.lead/write', '[[1], {"lead_properties": [{"name": "a", "type": "char", "comodel": false}]}]'],
])('is allowed: %s %s', (name, params) => {
  expect(find(name, params, '{}', ['crm.lead'])).toBeNull();
});

/** Attachments that are read into a message or a record. */
test.each([
  ['crm.lead/activity_feedback', '[[1], ["mail.mail_activity_data_todo"], 2, "done", [5]]', '{}'],
  ['crm.lead/activity_feedback', '[[1], []]', '{"attachment_ids": [5]}'],
  ['mail.activity/action_feedback', '[[1], "done", [5]]', '{}'],
  ['mail.activity/action_feedback_schedule_next', '[[1]]', '{"attachment_ids": [5]}'],
  ['purchase.order/action_create_invoice', '[[1], [5]]', '{}'],
  ['hr.expense/create_expense_from_attachments', '[[5]]', '{}'],
])('attachments that a call names must be ones that may be read: %s %s %s', (name, params, keyword) => {
  expect(find(name, params, keyword)).toMatchObject({ model: 'ir.attachment', method: 'read' });
  expect(find(name, params, keyword, ['ir.attachment'])).toBeNull();
  expect(find(name, params.replaceAll('5', ''), keyword.replaceAll('5', ''))).toBeNull();
});

test('an activity of a record of the call may name it by its id, but not its model', () => {
  expect(find('crm.lead/activity_schedule', '[[1]]', '{"res_id": 1, "summary": "a"}')).toBeNull();
  expect(find('crm.lead/activity_schedule', '[[1]]', '{"res_model_id": 80}')).toMatchObject({
    names: 'res_model_id',
  });
});

test('a refusal has what else the call needs, but not endlessly many', () => {
  const values = (models: readonly string[]) =>
    readArguments(`[[1], {"a": [${models.map((model) => `{"comodel": "${model}"}`)}]}]`);
  const read = (models: readonly string[]) =>
    findRelatedWrites('project.project', 'write', values(models), () => false);
  expect(read(['a', 'b', 'a', 'c']).found).toMatchObject({ model: 'a' });
  expect(read(['a', 'b', 'a', 'c']).others.map(({ model }) => model)).toEqual(['b', 'c']);
  const many = Array.from({ length: 100 }, (_, index) => `x.model${index}`);
  expect(read(many).others).toHaveLength(4);
});

/** Listed from Odoo's sources by scripts/odoo-tables/named_records.py. */
const NAMING: { model: string; field: string; versions: string }[] = JSON.parse(
  readFileSync(new URL('../../test/data/named-records-14-to-19.json', import.meta.url), 'utf8'),
);
/** Fields behind which Odoo shows no name. */
const NAMELESS = ['account.move.send.wizard/res_ids'];

test.each(NAMING)('$model/$field of $versions is checked, or writes must be named', ({ model, field }) => {
  if (NAMELESS.includes(`${model}/${field}`)) return;
  if (['create', 'write'].every((method) => findSensitivity(model, method) !== null)) return;
  expect(findNamedRecord(model, field)).toMatchObject({ names: 'id' });
});

test('the list from the sources has what a person would look for', () => {
  expect(NAMING).toContainEqual({ model: 'mail.activity', field: 'res_id', versions: '14 15 16 17 18 19' });
  for (const name of NAMELESS) expect(NAMING.map(({ model, field }) => `${model}/${field}`)).toContain(name);
});
