/** Calls that change users, groups, rights, code and the like through the values of another record. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countReads } from '../../../json/test/counted-bytes.ts';
import { countCases } from '../../../server/test/random-cases.ts';
import { readArguments } from '../../test/read-arguments.ts';
import { SENSITIVE_CONTEXT, SENSITIVE_MEMBERS } from '../sensitive/sensitive-members.ts';
import { findSensitivity } from '../sensitive/sensitive-methods.ts';
import { CONTEXT_RECORDS } from './context-records-data.ts';
import { UNDETERMINED, type WriteMethod } from './related-findings.ts';
import { findRelatedWrites } from './related-writes.ts';

/** The methods that a policy has to allow one after another until the call is allowed: `res.users/create`. */
function list(name: string, params: string, keyword = '{}'): string[] {
  const [model = '', method = ''] = name.split('/');
  const call = readArguments(params, keyword);
  const allowed: string[] = [];
  for (;;) {
    const { found } = findRelatedWrites(model, method, call, (...pair) => allowed.includes(pair.join('/')));
    if (found === null) return allowed;
    if (found === UNDETERMINED) return [...allowed, UNDETERMINED];
    if (found === null || 'unknown' in found || 'names' in found) throw new Error(JSON.stringify(found));
    const pair = `${found.model}/${found.method}`;
    expect(allowed).not.toContain(pair);
    allowed.push(pair);
  }
}

function find(name: string, params: string, keyword = '{}') {
  const [model = '', method = ''] = name.split('/');
  return findRelatedWrites(model, method, readArguments(params, keyword), () => false).found;
}

describe('each command needs the method that it stands for', () => {
  test.each([
    ['[0, 0, {"login": "x"}]', ['create']],
    ['[0, "virtual_1", {"login": "x"}]', ['create']],
    ['[1, 5, {"password": "x"}]', ['write']],
    ['[2, 5]', ['unlink']],
    ['[2, 5, 0]', ['unlink']],
    ['[3, 5]', ['write']],
    ['[4, 5, 0]', ['write']],
    ['[5]', ['write']],
    ['[5, 0, 0]', ['write']],
    ['[6, 0, [5, 6]]', ['write']],
    ['[1.0, 5, {}]', ['write']],
    // Python treats these as 0 and 1. Commands above 6 are unknown.
    ['[false, 0, {}]', ['create', 'write', 'unlink']],
    ['[true, 5, {}]', ['create', 'write', 'unlink']],
    ['[7]', ['create', 'write', 'unlink']],
    ['[]', ['create', 'write', 'unlink']],
    // A list of ids instead of commands.
    ['5', ['write']],
    ['{"login": "x"}', ['create', 'write', 'unlink']],
  ])('%s', (command, methods) => {
    const expected = methods.map((method) => `res.users/${method}`);
    expect(list('res.partner/write', `[[1], {"user_ids": [${command}]}]`)).toEqual(expected);
    expect(list('res.partner/create', `[{"name": "a", "user_ids": [[4, 1], ${command}]}]`)).toEqual(
      expect.arrayContaining(expected),
    );
  });

  test.each([
    ['[3, 5]', ['write', 'unlink']],
    ['[4, 5]', ['write']],
    ['[5]', ['write', 'unlink']],
    ['[6, 0, []]', ['write', 'unlink']],
  ])('%s of a one2many field, because Odoo deletes records that are unlinked from it', (command, methods) => {
    expect(list('x.model/write', `[[1], {"api_key_ids": [${command}]}]`)).toEqual(
      methods.map((method) => `res.users.apikeys/${method}`),
    );
  });

  test.each(['false', 'null'])('%s clears the field', (value) => {
    expect(list('res.partner/write', `[[1], {"user_ids": ${value}}]`)).toEqual(['res.users/write']);
  });

  test.each(['[]', '5', '"a"', 'true', '[ ]'])('%s changes nothing', (value) => {
    expect(list('res.partner/write', `[[1], {"user_ids": ${value}}]`)).toEqual([]);
  });
});

describe('finds commands', () => {
  const user = '[[0, 0, {"login": "x"}]]';

  test.each<[string, string, string?]>([
    ['res.partner/create', `[{"user_ids": ${user}}]`],
    ['res.partner/create', `[[{"name": "a"}, {"user_ids": ${user}}]]`],
    ['res.partner/create', '[]', `{"vals_list": [{"user_ids": ${user}}]}`],
    ['res.partner/create', '[]', `{"vals": {"user_ids": ${user}}}`],
    ['res.partner/write', '[[1]]', `{"vals": {"user_ids": ${user}}}`],
    ['res.partner/write', '[[1]]', `{"values": {"user_ids": ${user}}}`],
    ['res.partner/update', `[[1], {"user_ids": ${user}}]`],
    ['res.partner/web_save', `[[1], {"user_ids": ${user}}, {}]`],
    ['res.partner/web_save_multi', `[[1], [{"user_ids": ${user}}], {}]`],
    ['res.partner/copy', `[[1], {"user_ids": ${user}}]`],
    ['res.partner/copy', '[[1]]', `{"default": {"user_ids": ${user}}}`],
    ['res.partner/onchange', `[[], {"user_ids": ${user}}, ["user_ids"], {}]`],
    ['res.partner/onchange', '[[]]', `{"values": {"user_ids": ${user}}, "fields_spec": {}}`],
    ['res.partner/name_create', '["a"]', `{"context": {"default_user_ids": ${user}}}`],
    ['res.partner/default_get', '[["user_ids"]]', `{"context": {"default_user_ids": ${user}}}`],
    ['sale.order/action_confirm', '[[1]]', `{"context": {"default_user_ids": ${user}}}`],
    // A default is not an assignment: it applies to everything that the method creates.
    ['digest.digest/create', '[{"name": "a"}]', '{"context": {"default_user_ids": [[4, 5]]}}'],
    // Python converts a list of pairs into an object: `dict(default or [])` in copy, `update(values)` in create.
    ['crm.team/copy', `[[1], [["name", "a"], ["user_ids", ${user}]]]`],
    ['digest.digest/create', `[[[["name", "a"], ["user_ids", ${user}]]]]`],
    ['crm.lead/create', `[{"tag_ids": [[0, 0, [["user_ids", ${user}]]]]}]`],
    ['crm.lead/message_new', `[{"subject": "a"}, {"user_ids": ${user}}]`],
    ['crm.lead/action_set_lost', '[[1]]', `{"user_ids": ${user}}`],
    ['x.model/a_method_that_is_new', `[[1], "a", [{"b": {"user_ids": ${user}}}]]`],
    ['x.model/a_method_that_is_new', '[]', `{"anything": [{"user_ids": ${user}}]}`],
    // Values inside values.
    ['res.partner/write', `[[1], {"child_ids": [[0, 0, {"user_ids": ${user}}]]}]`],
    ['sale.order/write', `[[1], {"message_partner_ids": [[1, 7, {"user_ids": ${user}}]]}]`],
    ['sale.order/write', `[[1], {"a": [[1, 2, {"b": [[1, 3, {"user_ids": ${user}}]]}]]}]`],
    ['x.model/create', '[{"task_ids": [[0, 0, {"user_ids": [[4, 5]]}]]}]'],
    ['project.task/write', '[[1], {"message_partner_ids": [[1, 7, {"user_ids": [[4, 5]]}]]}]'],
    // The name contains an escape.
    ['res.partner/create', `[{"\u0075ser_ids": ${user}}]`],
    ['res.partner/create', `[{"\\u0075ser\\u005fids": ${user}}]`],
    ['res.partner/create', `[{"user_id\\u0073": ${user}}]`],
    ['res.partner/create', `[{"user_ids": [], "user_ids": ${user}}]`],
    // Assigning users does not create users.
    ['digest.digest/create', `[{"user_ids": ${user}}]`],
    ['crm.team/write', `[[1], {"member_ids": ${user}}]`],
    ['hr.job/write', `[[1], {"favorite_user_ids": ${user}, "interviewer_ids": []}]`],
    ['x.model/write', `[[1], {"x_studio_user_ids": ${user}}]`],
  ])('%s %s %s', (name, params, keyword) => {
    expect(find(name, params, keyword)).toMatchObject({ model: 'res.users' });
  });

  test.each([
    ['res.users/write', '{"groups_id": [[4, 3]]}', 'res.groups/write'],
    ['res.users/write', '{"group_ids": [[6, 0, [3]]]}', 'res.groups/write'],
    ['res.groups/write', '{"implied_ids": [[4, 3]]}', 'res.groups/write'],
    ['res.groups/write', '{"users": [[4, 3]]}', 'res.users/write'],
    ['res.groups/write', '{"model_access": [[0, 0, {}]]}', 'ir.model.access/create'],
    ['res.groups/write', '{"rule_groups": [[0, 0, {}]]}', 'ir.rule/create'],
    ['res.users/write', '{"api_key_ids": [[0, 0, {}]]}', 'res.users.apikeys/create'],
    ['res.company/write', '{"user_ids": [[4, 3]]}', 'res.users/write'],
    ['res.company/write', '{"ldaps": [[0, 0, {}]]}', 'res.company.ldap/create'],
    ['base.automation/write', '{"action_server_ids": [[0, 0, {}]]}', 'ir.actions.server/create'],
    ['x.model/write', '{"cron_ids": [[0, 0, {}]]}', 'ir.cron/create'],
    ['x.model/write', '{"mail_server_ids": [[1, 2, {}]]}', 'ir.mail_server/write'],
    ['project.project/write', '{"collaborator_ids": [[0, 0, {}]]}', 'project.collaborator/create'],
    ['res.partner/write', '{"payment_token_ids": [[0, 0, {}]]}', 'payment.token/create'],
    ['pos.config/write', '{"payment_method_ids": [[0, 0, {}]]}', 'pos.payment.method/create'],
    ['account.journal/write', '{"pos_payment_method_ids": [[1, 2, {}]]}', 'pos.payment.method/write'],
    [
      'loyalty.program/write',
      '{"pos_config_ids": [[1, 2, {"payment_method_ids": [[1, 3, {}]]}]]}',
      'pos.payment.method/write',
    ],
    ['res.partner/write', '{"auth_partner_ids": [[0, 0, {}]]}', 'auth.partner/create'],
    ['documents.folder/write', '{"read_group_ids": [[4, 3]]}', 'res.groups/write'],
    // Users to whom something is assigned are told, and follow it.
    ['project.project/write', '{"task_ids": [[0, 0, {"user_ids": [[6, 0, [2]]]}]]}', 'mail.followers/write'],
    ['project.task/write', '{"child_ids": [[0, 0, {"user_ids": [2]}]]}', 'mail.followers/write'],
    ['project.task/write', '{"user_ids": [[4, 2]]}', 'mail.followers/write'],
    ['crm.lead/write', '{"user_id": 2}', 'mail.followers/write'],
    ['crm.lead/copy', '{"user_id": 2}', 'mail.followers/write'],
    ['crm.lead/web_save', '{"user_id": 2}', 'mail.followers/write'],
    [
      'project.task/write',
      '{"child_ids": [[0, 0, {"partner_id": {"user_ids": [[4, 2]]}}]]}',
      'res.users/write',
    ],
    ['project.task/write', '{"child_ids": [{"user_ids": [[4, 2]]}]}', 'res.users/write'],
    ['project.task/write', '{"child_ids": [{"a": {"user_ids": [[4, 2]]}}]}', 'res.users/write'],
    [
      'hr.payroll.structure.type/write',
      '{"struct_ids": [[1, 2, {"rule_ids": [[1, 3, {}]]}]]}',
      'hr.salary.rule/write',
    ],
    ['sale.order/write', '{"order_line": [[0, 0, {"tax_id": [[0, 0, {}]]}]]}', 'account.tax/create'],
    ['account.move/write', '{"invoice_line_ids": [[1, 2, {"tax_ids": [[1, 3, {}]]}]]}', 'account.tax/write'],
    ['res.partner/write', '{"signup_type": "reset", "signup_token": "known"}', 'res.users/write'],
    // What Odoo computes from other records, and the hash that locks an entry.
    ['account.move.line/write', '{"amount_residual": 0}', 'account.partial.reconcile/create'],
    ['account.move.line/write', '{"matching_number": "I1"}', 'account.partial.reconcile/create'],
    ['account.move.line/write', '{"parent_state": "posted"}', 'account.move/write'],
    ['account.move/write', '{"payment_state": "paid"}', 'account.partial.reconcile/create'],
    ['account.move/write', '{"inalterable_hash": "a"}', 'account.secure.entries.wizard/create'],
    ['sale.order.line/write', '{"state": "sale"}', 'sale.order/write'],
    ['product.product/write', '{"qty_available": 5}', 'stock.quant/create'],
    // What a field that Odoo writes to another record changes.
    ['account.move.line/write', '{"reconciled_lines_ids": [6]}', 'account.partial.reconcile/create'],
    ['account.move/write', '{"user_id": 2}', 'mail.followers/write'],
    ['hr.leave/write', '{"validation_type": "no_validation"}', 'hr.leave.type/write'],
    ['res.partner.bank/write', '{"bank_bic": "A"}', 'res.bank/write'],
    ['stock.lot/write', '{"location_id": 8}', 'stock.quant/create'],
    ['crm.team/write', '{"alias_defaults": "{}"}', 'mail.alias/write'],
    ['sale.order/write', '{"access_token": "known"}', 'portal.share/write'],
    ['project.task/create', '{"access_token": "known"}', 'portal.share/write'],
    ['project.project/write', '{"alias_name": "a"}', 'mail.alias/write'],
    ['crm.team/write', '{"alias_domain_id": 2}', 'mail.alias/write'],
    ['sale.order/write', '{"message_ids": [[0, 0, {"author_id": 3}]]}', 'mail.message/create'],
    ['project.project/write', '{"alias_bounced_content": "<p>a</p>"}', 'mail.alias/write'],
    ['mail.message/write', '{"tracking_value_ids": [[0, 0, {}]]}', 'mail.tracking.value/create'],
    ['web_tour.tour/write', '{"user_consumed_ids": [[0, 0, {"login": "x"}]]}', 'res.users/create'],
    ['mail.channel/write', '{"moderator_ids": [[0, 0, {"login": "x"}]]}', 'res.users/create'],
    ['spreadsheet.dashboard/write', '{"main_data_model_ids": [[0, 0, {}]]}', 'ir.model/create'],
    ['account.chart.template/write', '{"tax_template_ids": [[0, 0, {}]]}', 'account.tax.template/create'],
    ['product.template/write', '{"product_document_ids": [[0, 0, {}]]}', 'product.document/create'],
    ['sale.order/write', '{"quotation_document_ids": [[1, 2, {}]]}', 'quotation.document/write'],
  ])('%s %s', (name, values, expected) => {
    expect(list(name, `[[1], ${values}]`)[0]).toBe(expected);
  });
});

describe('finds columns of an import', () => {
  test.each([
    ['["name", "user_ids/login"]', ['res.users/create', 'res.users/write']],
    ['["child_ids/user_ids/login"]', ['res.users/create', 'res.users/write']],
    ['["user_ids.login"]', ['res.users/create', 'res.users/write']],
    ['["user_ids/id"]', ['res.users/write']],
    ['["user_ids/.id"]', ['res.users/write']],
    ['["user_ids:id"]', ['res.users/write']],
    ['["user_ids"]', ['res.users/write']],
    ['["user\\u005fids"]', ['res.users/write']],
    ['["name", "child_ids/name", "category_id", "taxes_id/id", "taxes_id"]', []],
  ])('%s', (columns, expected) => {
    expect(list('res.partner/load', `[${columns}, [["a"]]]`)).toEqual(expected);
    expect(list('res.partner/load', '[]', `{"fields": ${columns}, "data": []}`)).toEqual(expected);
  });

  test('at any position', () => {
    const columns = readArguments('[["user_ids/login"], []]', '{"fields": ["name"]}');
    expect(findRelatedWrites('res.partner', 'load', columns, () => false).found).toMatchObject({
      model: 'res.users',
    });
  });

  test('except assignments, of which Odoo tells the users', () => {
    const told = ['mail.followers/write'];
    expect(list('project.task/load', '[["name", "user_ids"], []]')).toEqual(told);
    expect(list('crm.lead/load', '[["name", "user_id/.id"], []]')).toEqual(told);
    expect(list('project.project/load', '[["name", "task_ids/child_ids/name"], []]')).toEqual([]);
    expect(list('x.model/load', '[["name", "task_ids/user_ids"], []]')).toEqual(['res.users/write']);
  });
});

describe('finds members of the context', () => {
  test.each([
    // A column of names creates a record for each unknown name. A user created that way is invited by mail.
    ['res.partner/load', '{"name_create_enabled_fields": {"user_id": true}}', 'res.users/create'],
    ['x.model/a_method_that_is_new', '{"default_login": "x", "default_password": "y"}', 'res.users/create'],
    [
      'project.project/load',
      '{"name_create_enabled_fields": {"task_ids/user_ids": true}}',
      'res.users/create',
    ],
    // The value of `id` becomes an external id, even if another record has it.
    ['res.partner/create', '{"_import_current_module": "x"}', 'ir.model.data/write'],
    ['res.partner/web_save', '{"lang": "de_DE", "_import_current_\\u006dodule": "x"}', 'ir.model.data/write'],
    // In 14 to 17, a file in a field is stored with the defaults of the call.
    ['res.partner/write', '{"default_public": true}', 'ir.attachment/create'],
    ['x.model/message_post', '{"default_url": "/a.js"}', 'ir.attachment/create'],
    ['crm.lead/message_post', '{"mail_post_autofollow": true}', 'mail.followers/write'],
    ['sale.order/create', '{"create_for_employee_mapping": true}', 'sale.order/action_confirm'],
    ['sale.order.line/default_get', '{"form_view_ref": "sale_project.a"}', 'sale.order/create'],
    ['sale.order/action_confirm', '{"send_email": true}', 'mail.mail/create'],
    ['sale.order/message_post', '{"mark_so_as_sent": true}', 'sale.order/action_quotation_sent'],
    ['sale.order/write', '{"update_delivery_shipping_partner": true}', 'stock.picking/write'],
    ['im_livechat.channel/create', '{"create_from_website": true}', 'website/write'],
    ['account.move/message_post', '{"mark_invoice_as_sent": true}', 'account.move/write'],
    ['account.move/write', '{"skip_readonly_check": true}', 'account.move/button_draft'],
    ['account.move/unlink', '{"force_delete": 1}', 'account.move/button_draft'],
    ['account.move/message_post', '{"from_alias": true}', 'account.move/create'],
    ['hr.departure.wizard/create', '{"toggle_active": true}', 'hr.employee/write'],
    ['purchase.order/action_purchase_order_suggest', '{"suggest_days": 9}', 'res.partner/write'],
    ['sale.order/create', '{"create_for_task_id": 1}', 'sale.order/action_confirm'],
    ['stock.quant/create', '{"import_file": true}', 'stock.lot/create'],
    ['stock.picking/action_confirm', '{"transfer_qty": true}', 'mrp.production/action_cancel'],
  ])('%s %s', (name, context, expected) => {
    expect(list(name, '[["name"], [["a"]]]', `{"context": ${context}}`)).toContain(expected);
  });

  test.each([
    ['res.partner/load', '{"name_create_enabled_fields": {}}'],
    ['res.partner/load', '{"name_create_enabled_fields": {"user_id": false}, "import_file": true}'],
    ['res.partner/load', '{"name_create_enabled_fields": null}'],
    ['res.partner/create', '{"_import_current_module": null, "import_file": true}'],
    ['sale.order/message_post', '{"mail_post_autofollow": false}'],
    ['sale.order/create', '{"form_view_ref": "sale.view_order_form"}'],
    ['sale.order/create', '{"create_for_employee_mapping": false, "mark_invoice_as_sent": null}'],
  ])('ignores: %s %s', (name, context) => {
    expect(list(name, '[["name"], [["a"]]]', `{"context": ${context}}`)).toEqual([]);
  });
});

test.each([
  ['sale.order/message_post', '{"body": "a", "author_id": 3}', 'author_id'],
  ['sale.order/message_post', '{"body": "a", "email_from": "ceo@example.com"}', 'email_from'],
  ['res.partner/message_notify', '{"partner_ids": [1], "author_id": [3]}', 'author_id'],
  ['crm.lead/message_post', '{"body": "a", "reply_to": "x@example.com"}', 'reply_to'],
])(
  'an author or sender that the call names needs `create` of `mail.mail`: %s %s',
  (name, keyword, member) => {
    expect(find(name, '[[1]]', keyword)).toEqual({ member, model: 'mail.mail', method: 'create' });
  },
);

test.each([
  ['{"summary": "a", "res_id": 1}', 'res_id'],
  ['{"summary": "a", "res_model_id": 80, "user_id": 2}', 'res_model_id'],
  ['{"res_model": "res.users"}', 'res_model'],
])('another record that the call names for an activity needs `create` of it: %s', (keyword, member) => {
  expect(find('sale.order/activity_schedule', '[[1]]', keyword)).toEqual({
    member,
    model: 'mail.activity',
    method: 'create',
  });
});

test.each([
  ['sale.order/activity_schedule', '{"summary": "a", "activity_type_id": 4}'],
  ['sale.order/message_post', '{"body": "a", "author_id": null, "email_from": false, "reply_to": ""}'],
  ['sale.order/x_sync', '{"email_from": "a@example.com"}'],
])('which it may omit: %s %s', (name, keyword) => {
  expect(find(name, '[[1]]', keyword)).toBeNull();
});

describe('ignores', () => {
  test.each<[string, string, string?]>([
    [
      'sale.order/create',
      '[{"partner_id": 1, "order_line": [[0, 0, {"product_id": 2, "tax_id": [[6, 0, [1]]]}]]}]',
    ],
    ['sale.order/write', '[[1], {"order_line": [[1, 5, {"product_uom_qty": 2.0}], [2, 6], [4, 7], [5]]}]'],
    ['sale.order/write', '[[1], {"user_id": false, "team_id": 1, "tag_ids": [[6, 0, [1]]]}]'],
    ['crm.lead/create', '[{"name": "a", "user_id": null}]', '{"context": {"default_user_id": false}}'],
    ['account.move/create', '[{"invoice_line_ids": [[0, 0, {"tax_ids": [1, 2], "quantity": 1}]]}]'],
    ['product.template/write', '[[1], {"taxes_id": [[5]], "supplier_taxes_id": [[3, 1]]}]'],
    ['res.partner/create', '[{"name": "a", "child_ids": [[0, 0, {"name": "b"}]], "category_id": [[4, 1]]}]'],
    ['res.partner/write', '[[1], {"bank_ids": [[0, 0, {"acc_number": "1"}]]}]'],
    ['digest.digest/create', '[{"name": "a", "user_ids": [[6, 0, [2]]]}]'],
    ['digest.digest/create', '[{"name": "a", "user_ids": [[4, 2]]}]'],
    ['digest.digest/create', '[{"name": "a", "user_ids": [2]}]'],
    ['project.task/create', '[{"name": "a", "user_ids": false}]'],
    ['project.task/write', '[[1], {"child_ids": [[0, 0, {"name": "a", "user_ids": false}], [4, 3], 5]}]'],
    ['payment.method/write', '[[1], {"brand_ids": [[0, 0, {}]], "payment_method_ids": [[6, 0, [1]]]}]'],
    ['hr.employee/write', '[[1], {"certificate_ids": [[0, 0, {"name": "a"}]]}]'],
    ['crm.team/write', '[[1], {"member_ids": [[4, 2]]}]'],
    ['hr.department/write', '[[1], {"member_ids": [[0, 0, {"name": "a"}]]}]'],
    ['stock.route/write', '[[1], {"rule_ids": [[0, 0, {"name": "a"}]]}]'],
    ['loyalty.program/create', '[{"rule_ids": [[0, 0, {}]], "reward_ids": [[0, 0, {}]]}]'],
    ['product.category/write', '[[1], {"child_id": [[0, 0, {}]]}]'],
    ['pos.config/write', '[[1], {"payment_method_ids": [[6, 0, [1]]]}]'],
    ['base.automation/write', '[[1], {"trigger_field_ids": [[6, 0, [1]]]}]'],
    ['crm.lead/convert_opportunity', '[[1], 2]', '{"user_ids": [2, 3], "team_id": false}'],
    ['sale.order/message_post', '[[1]]', '{"body": "user_ids", "partner_ids": [1]}'],
    ['mail.alias/create', '[{"alias_name": "a", "alias_model_id": 3}]'],
    // These arguments name fields.
    ['res.partner/onchange', '[[], {"name": "a"}, ["name"], {"user_ids": {"fields": {"display_name": {}}}}]'],
    ['res.partner/onchange', '[[], {"name": "a"}, "name", {"user_ids": "1", "alias_name": ""}]'],
    ['crm.team/web_save', '[[1], {"name": "a"}, {"alias_name": {}, "member_ids": {}}]'],
    ['crm.team/web_save', '[[1]]', '{"vals": {"name": "a"}, "specification": {"alias_name": {}}}'],
    ['x.model/a_method_that_is_new', '["user_ids", {"name": "groups_id"}, ["users"]]'],
  ])('%s %s %s', (name, params, keyword) => {
    expect(list(name, params, keyword)).toEqual([]);
  });
});

test('continues after a write that is allowed, and returns the first that is not', () => {
  const call = readArguments(
    '[{"child_ids": [[0, 0, {"user_ids": [[0, 0, {"login": "a", "group_ids": [[4, 3]]}]]}]]}]',
  );
  const allowing = (...allowed: string[]) =>
    findRelatedWrites('res.partner', 'create', call, (model, method) =>
      allowed.includes(`${model}/${method}`),
    ).found;
  expect(allowing()).toEqual({ member: 'user_ids', model: 'res.users', method: 'create' });
  expect(allowing('res.users/create')).toEqual({ member: 'group_ids', model: 'res.groups', method: 'write' });
  expect(allowing('res.users/create', 'res.groups/write')).toBeNull();
});

test('checks each command inside other commands by itself, at any depth', () => {
  const nested = `${'{"tax_ids": [[6, 0, [1]], [1, 2, {"a": [{"b": "c"}], "user_ids": [[4, 1]]}], [2, '.repeat(60)}{}${']]}'.repeat(60)}`;
  expect(list('res.partner/create', `[${nested}]`)).toEqual([
    'account.tax/write',
    'res.users/write',
    'account.tax/unlink',
  ]);
  const closed =
    '{"api_key_ids": [], "a": [[0, 0, {}], 5, "x", true], "user_ids": [[4, 1]], "b": {"c": [[2, 1]]}}';
  expect(find('res.partner/write', `[[1], ${closed}]`)).toEqual({
    member: 'user_ids',
    model: 'res.users',
    method: 'write',
  });
});

test('refuses a context of pairs', () => {
  expect(find('crm.lead/create', '[{}]', '{"context": [["_import_current_module", "x"]]}')).toBe(
    UNDETERMINED,
  );
  expect(find('crm.lead/create', '[{}]', '{"context": [ ]}')).toBeNull();
});

test('gives up if there is too much to search', () => {
  expect(find('res.partner/write', `[${'0,'.repeat(20)}{"user_ids": [[5]]}]`)).toBe(UNDETERMINED);
  const names = Array.from({ length: 1001 }, (_, index) => `"\\u0061${index}": 1`);
  expect(find('res.partner/write', `[[1], {${names}}]`)).toBe(UNDETERMINED);
  expect(find('res.partner/write', `[[1], {${names.slice(0, 1000)}}]`)).toBeNull();
  const listed = Array.from({ length: 1001 }, (_, index) => `"x${index}_user_ids": []`);
  expect(find('res.partner/write', `[[1], {${listed}}]`)).toBe(UNDETERMINED);
  expect(find('res.partner/write', `[[1], {${listed.slice(0, 1000)}}]`)).toBeNull();
  expect(find('res.partner/load', `[["${'a/'.repeat(1000)}"], []]`)).toBe(UNDETERMINED);
});

/** Models that a policy must allow, like models of ordinary business, but that it need not name: `*` includes them. */
const REACH_PEOPLE = [
  'discuss.channel.member',
  'mail.channel.member',
  'mail.followers',
  'mail.activity',
  'res.partner',
  'res.partner.bank',
  'account.move.line',
  'ir.attachment',
];

test('a policy must name every model that a member leads to, except records that reach people', () => {
  for (const { members, model, form } of SENSITIVE_MEMBERS) {
    if (form === 'free' || REACH_PEOPLE.includes(model)) continue;
    for (const method of ['create', 'write', 'unlink'] satisfies WriteMethod[])
      expect([members, model, findSensitivity(model, method) !== null]).toEqual([members, model, true]);
  }
});

test('a policy must name every model that a member of the context changes, except documents and records that reach people', () => {
  const documents = ['account.move', 'sale.order', 'purchase.order', 'stock.lot'];
  for (const { name, model, method } of SENSITIVE_CONTEXT) {
    if (REACH_PEOPLE.includes(model) || documents.includes(model)) continue;
    expect([name, findSensitivity(model, method) !== null]).toEqual([name, true]);
  }
});

describe('arguments of activities that tell a user', () => {
  const FOLLOWERS = ['mail.followers/write'];

  test.each<[string, string, string, string[]]>([
    ['activity_schedule', '[[1]]', '{"summary": "a", "user_id": 6}', FOLLOWERS],
    ['activity_schedule', '[[1]]', '{"summary": "a", "context": {"default_user_id": 6}}', FOLLOWERS],
    ['activity_schedule', '[[1]]', '{"summary": "a", "user_id": false}', []],
    ['activity_reschedule', '[[1], ["a.b"]]', '{"new_user_id": 6}', FOLLOWERS],
    ['activity_reschedule', '[[1], ["a.b"], 2, false, 6]', '{}', FOLLOWERS],
    ['activity_reschedule', '[[1], ["a.b"], 2, "2030-01-01"]', '{}', []],
    ['a_method', '[[1], 2, 3, 4, 5]', '{"new_user_id": 6}', []],
  ])('%s %s %s', (method, params, keyword, needed) => {
    expect(list(`res.partner/${method}`, params, keyword)).toEqual(needed);
  });
});

describe('arguments of messages', () => {
  test.each([
    ['{"outgoing_email_to": "a@example.com"}', ['mail.mail/create']],
    ['{"email_layout_xmlid": "web.login"}', ['mail.mail/create']],
    ['{"mail_headers": {"a": "b"}}', ['mail.mail/create']],
    ['{"attachment_ids": [5]}', ['ir.attachment/read']],
    ['{"tracking_value_ids": [[0, 0, {"new_value_char": "a"}]]}', ['mail.tracking.value/create']],
    ['{"reaction_ids": [[0, 0, {"partner_id": 3}]]}', ['mail.message.reaction/create']],
    ['{"context": {"default_tracking_value_ids": [[0, 0, {}]]}}', ['mail.tracking.value/create']],
    ['{"attachment_ids": []}', []],
    ['{"context": {"default_public": true}}', ['ir.attachment/create']],
    ['{"body": "a"}', []],
  ])('%s', (keyword, needed) => {
    expect(list('crm.lead/message_post', '[[1]]', keyword)).toEqual(needed);
  });
});

test.each([
  ['res.company/write', '[[1], {"partner_id": 3}]', '{}', ['res.partner/write']],
  ['hr.employee/write', '[[1], {"leave_manager_id": 2}]', '{}', ['res.groups/write']],
  [
    'hr.applicant/write',
    '[[1], {"interviewer_ids": [[4, 2]]}]',
    '{}',
    ['mail.mail/create', 'res.groups/write'],
  ],
  [
    'hr.employee/write',
    '[[1], {"work_contact_id": 3}]',
    '{}',
    ['mail.followers/write', 'res.partner.bank/write'],
  ],
  ['hr.employee/create', '[{"work_contact_id": 3}]', '{}', []],
  ['lunch.supplier/create', '[{"partner_id": 3, "email": "a"}]', '{}', ['res.partner/write']],
  [
    'account.journal/write',
    '[[1], {"bank_acc_number": "1"}]',
    '{}',
    ['res.partner.bank/create', 'res.partner.bank/write'],
  ],
  ['pos.config/write', '[[1], {"module_pos_hr": true}]', '{}', ['ir.module.module/write']],
  [
    'calendar.event/create',
    '[{"res_model": "res.users", "res_id": 2}]',
    '{}',
    ['mail.activity/create', 'res.users/read'],
  ],
  [
    'calendar.event/create',
    '[{}]',
    '{"context": {"default_res_model": "a"}}',
    ['mail.activity/create', 'a/read'],
  ],
  ['ir.attachment/create', '[{}]', '{"context": {"default_res_model": "a"}}', ['a/read']],
  ['project.task/create', '[{"stage_id": 2}]', '{}', ['mail.mail/create']],
  ['project.task/create', '[{}]', '{"context": {"default_stage_id": 2}}', ['mail.mail/create']],
  ['project.project/create', '[{"task_ids": [[0, 0, {"stage_id": 2}]]}]', '{}', ['mail.mail/create']],
  ['project.task/load', '[["name", "stage_id/id"], []]', '{}', ['mail.mail/create']],
  ['crm.lead/create', '[{"stage_id": 2}]', '{}', []],
  ['product.product/create', '[{"product_tmpl_id": 3, "list_price": 1}]', '{}', ['product.template/write']],
  [
    'product.product/create',
    '[{}]',
    '{"context": {"default_product_tmpl_id": 3}}',
    ['product.template/write'],
  ],
  ['product.product/load', '[["name", "product_tmpl_id/.id"], []]', '{}', ['product.template/write']],
  ['account.move/write', '[[1], {"sending_data": {"author_user_id": 2}}]', '{}', ['mail.mail/create']],
  // New records do not have the effects of `write`, and a context has members that are no defaults.
  ['hr.department/create', '[{"name": "a"}]', '{}', []],
  ['event.event/create', '[{"organizer_id": 3}]', '{}', []],
  ['event.event/create', '[{}]', '{"context": {"default_organizer_id": 3}}', []],
  ['event.event/write', '[[1], {"organizer_id": 3}]', '{}', ['mail.followers/write']],
  ['lunch.supplier/write', '[[1], {"zip_code": "1"}]', '{"context": {"tz": "UTC"}}', ['res.partner/write']],
])(
  'a member of the values or the context of %s reaches another model: %s %s',
  (name, params, keyword, needed) => {
    expect(list(name, params, keyword)).toEqual(needed);
  },
);

describe('a link to a record that is deleted with the record of the call', () => {
  const find = (name: string, params: string, keyword: string, isDeletable: boolean) => {
    const [model = '', method = ''] = name.split('/');
    const allows = (of: string, needed: string) => (isDeletable && of === model) || needed === 'write';
    return findRelatedWrites(model, method, readArguments(params, keyword), allows).found;
  };

  test.each([
    ['lunch.supplier/create', '[{"partner_id": 3, "cron_id": 2}]', '{}', 'ir.cron'],
    ['lunch.supplier/create', '[{}]', '{"context": {"default_cron_id": 2}}', 'ir.cron'],
    ['lunch.supplier/load', '[["name", "cron_id/.id"], []]', '{}', 'ir.cron'],
    ['project.project/write', '[[1], {"account_id": 2}]', '{}', 'account.analytic.account'],
    ['account.journal/write', '[[1], {"bank_account_id": 2}]', '{}', 'res.partner.bank'],
  ])('needs a policy that allows to delete it: %s %s %s', (name, params, keyword, model) => {
    expect(find(name, params, keyword, true)).toMatchObject({ model, method: 'unlink' });
    // A key that cannot delete the record of the call deletes no other one by it.
    expect(find(name, params, keyword, false)).toBeNull();
  });

  test('and counts in values within values', () => {
    const nested = '[{"contact_ids": [[0, 0, {"cron_id": 2}]]}]';
    const allows = (model: string, method: string) => model === 'lunch.supplier' || method !== 'unlink';
    const types = {
      types: new Map([
        ['x.model', new Map([['contact_ids', { type: 'one2many', relation: 'lunch.supplier' }]])],
      ]),
      asked: new Map(),
    };
    const call = readArguments(nested, '{}');
    expect(findRelatedWrites('x.model', 'create', call, allows, types as never).found).toMatchObject({
      model: 'ir.cron',
      method: 'unlink',
    });
  });
});

describe('a field that Odoo also writes to the contact of the record', () => {
  const PARTNER = ['res.partner/write'];

  test.each([
    ['crm.lead', 'email_from', 'partner_id'],
    ['crm.lead', 'phone', 'partner_id'],
    ['hr.employee', 'work_email', 'work_contact_id'],
    ['hr.employee', 'mobile_phone', 'user_id'],
    ['hr.applicant', 'email_from', 'candidate_id'],
    ['project.task', 'partner_phone', 'partner_id'],
  ])('%s %s', (model, field, link) => {
    const values = `{"${field}": "a", "name": "b"}`;
    expect(list(`${model}/write`, `[[1], ${values}]`)).toEqual(PARTNER);
    expect(list(`${model}/load`, `[["name", "${field}"], []]`)).toEqual(PARTNER);
    expect(list(`${model}/copy`, `[[1], ${values}]`)).toEqual(PARTNER);
    // A new record has no contact yet, unless the call gives one.
    for (const given of [values, `[${values}, {"name": "c"}]`])
      expect(list(`${model}/create`, `[${given}]`)).toEqual([]);
    const escaped = `\\u00${link.charCodeAt(0).toString(16)}${link.slice(1)}`;
    for (const name of [link, escaped]) {
      expect(list(`${model}/create`, `[{"${field}": "a", "${name}": 3}]`)).toEqual(PARTNER);
      expect(list(`${model}/create`, `[[{"${field}": "a"}, {"${name}": 3}]]`)).toEqual(PARTNER);
    }
    const context = `{"context": {"default_${link}": 3}}`;
    expect(list(`${model}/create`, `[${values}]`, context)).toEqual(PARTNER);
    const standard = `{"context": {"default_${field}": "a", "default_${link}": 3}}`;
    expect(list(`${model}/create`, '[{}]', standard)).toEqual(PARTNER);
    expect(list(`${model}/name_create`, '["b"]', standard)).toEqual(PARTNER);
    // Values as arguments of their own, as in `action_set_lost(**values)`.
    expect(list(`${model}/a_method_that_is_new`, '[[1]]', `{"${field}": "a"}`)).toEqual(PARTNER);
    expect(list('x.model/a_method_that_is_new', '[[1]]', `{"${field}": "a"}`)).toEqual([]);
    expect(list('x.model/write', `[[1], ${values}]`)).toEqual([]);
  });

  test.each([
    // Methods that change another model, whatever their arguments.
    ['hr.departure.wizard/action_register_departure', '[[1]]', '{}', ['res.users/write']],
    [
      'hr.employee/action_toggle_primary_bank_account_trust',
      '[]',
      '{"ids": [1]}',
      ['res.partner.bank/write'],
    ],
    ['x.custom/action_register_departure', '[[1]]', '{}', []],
    // A record of this model is a bank account.
    ['account.setup.bank.manual.config/create', '[{"acc_number": "1"}]', '{}', ['res.partner.bank/create']],
    ['account.setup.bank.manual.config/write', '[[1], {}]', '{}', ['res.partner.bank/write']],
    [
      'account.setup.bank.manual.config/create',
      '[{"res_partner_bank_id": 5}]',
      '{}',
      ['res.partner.bank/create', 'res.partner.bank/write'],
    ],
    ['account.setup.bank.manual.config/default_get', '[["acc_number"]]', '{}', []],
    // Fields that a method sets without a value of the call.
    ['lunch.supplier/action_archive', '[[1]]', '{}', ['ir.cron/write']],
    ['lunch.supplier/toggle_active', '[[1]]', '{}', ['ir.cron/write']],
    ['slide.slide/website_publish_button', '[[1]]', '{}', ['mail.mail/create']],
    ['res.partner/action_archive', '[[1]]', '{}', []],
    ['crm.lead/action_set_lost', '[[1]]', '{"email_from": "a"}', PARTNER],
    ['crm.lead/action_set_lost', '[[1]]', '{"lost_reason_id": 1}', []],
    ['crm.lead/action_set_lost', '[[1]]', '{"message_partner_ids": [[4, 3]]}', ['mail.followers/write']],
    ['hr.job/create_and_get_website_url', '[]', '{"alias_name": "a"}', ['mail.alias/write']],
    ['project.task/create', '[{"parent_id": 3, "partner_email": "a"}]', '{}', PARTNER],
    // A method of another model that creates tasks.
    ['sale.order/action_confirm', '[[1]]', '{"context": {"default_partner_email": "a"}}', PARTNER],
    ['crm.lead/create', '[{}]', '{"context": {"default_email_from": "a"}}', []],
    // A method of another model that creates leads. Methods of the ORM create records of their own model.
    ['discuss.channel/execute_command_lead', '[[1]]', '{"context": {"default_email_from": "a"}}', PARTNER],
    ['discuss.channel/execute_command_lead', '[[1]]', '{"context": {"default_phone": "1"}}', PARTNER],
    ['discuss.channel/execute_command_lead', '[[1]]', '{"context": {"default_phone": false}}', []],
    ['res.partner/default_get', '[["name"]]', '{"context": {"default_phone": "1"}}', []],
    ['res.partner/web_save', '[[], {}, {}]', '{"context": {"default_phone": "1"}}', []],
    // The contact of a new applicant is found by the email.
    ['hr.candidate/create', '[{"email_from": "a", "partner_phone": "1"}]', '{}', PARTNER],
    ['hr.applicant/create', '[{"email_from": "a", "partner_phone": "1"}]', '{}', PARTNER],
    ['hr.applicant/create', '[{"email_from": "a", "partner_mobile": "1"}]', '{}', PARTNER],
    ['helpdesk.ticket/create', '[{"partner_email": "a", "partner_phone": "1"}]', '{}', PARTNER],
    ['hr.applicant/create', '[{"partner_phone": "1"}]', '{}', []],
    ['hr.applicant/create', '[{"email_from": "a", "partner_name": "b"}]', '{}', []],
  ])('%s %s %s', (name, params, keyword, needed) => {
    expect(list(name, params, keyword)).toEqual(needed);
  });

  test('a copy that the call links to a contact, as it has the values of its source', () => {
    for (const [model, link] of [
      ['crm.lead', 'partner_id'],
      ['hr.applicant', 'candidate_id'],
    ]) {
      expect(list(`${model}/copy`, `[[1], {"${link}": 3}]`)).toEqual(PARTNER);
      expect(list(`${model}/copy`, '[[1]]', `{"default": {"${link}": 3}}`)).toEqual(PARTNER);
      expect(list(`${model}/copy`, '[[1]]', `{"context": {"default_${link}": 3}}`)).toEqual(PARTNER);
      expect(list(`${model}/copy`, '[[1], {"name": "b"}]')).toEqual([]);
    }
  });

  test('and one that changes lines, or the definition of properties', () => {
    expect(list('account.move/write', '[[1], {"tax_totals": {}}]')).toEqual(['account.move.line/write']);
    for (const name of ['definition_changed', 'definition_deleted']) {
      const properties = `{"task_properties": [{"name": "a", "type": "char", "${name}": true}]}`;
      expect(list('project.task/write', `[[1], ${properties}]`)).toEqual(['ir.model.fields/write']);
      expect(list('project.task/create', `[${properties}]`)).toEqual(['ir.model.fields/write']);
    }
    expect(list('project.task/write', '[[1], {"task_properties": [{"name": "a", "value": 1}]}]')).toEqual([]);
  });
});

test('a refusal names the default that the call has', () => {
  const found = find('project.task/create', '[{}]', '{"context": {"default_stage_id": 2}}');
  expect(found).toEqual({ member: 'default_stage_id', model: 'mail.mail', method: 'create' });
});

test('every member of the table is found, as itself and as a default', () => {
  for (const { members, model, of, form } of SENSITIVE_MEMBERS) {
    if (form === 'free') continue;
    const values = form === 'values' ? '"a"' : '[[0, 0, {}], [1, 1, {}], [2, 1]]';
    for (const member of members) {
      const name = member.replace('*', member === '*taxes_id' ? 'supplier_' : 'x_');
      expect(find(`${of?.[0] ?? 'x.model'}/write`, `[[1], {"${name}": ${values}}]`)).toMatchObject({ model });
      const context = `{"context": {"default_${name}": ${values}}}`;
      // If the model has such a field, the type of the field decides about links and commands in the default.
      if (of !== undefined && form !== 'values') continue;
      expect(find(`${of?.[0] ?? 'x.model'}/write`, '[[1], {}]', context)).toMatchObject({ model });
    }
  }
});

test('no unlisted name is taken for a listed one', () => {
  const listed =
    /^(default_)?(.*(user_ids|api_?key_ids|certificate_ids|server_ids|action_ids|cron_ids|tax_ids|taxes_id|carrier_ids))$/;
  const letters = fc.stringMatching(/^(default_)?[a-z_]{1,12}(_ids|_id|s)?$/);
  const names = new Set(SENSITIVE_MEMBERS.flatMap(({ members }) => members));
  fc.assert(
    fc.property(letters, (name) => {
      fc.pre(!listed.test(name) && !names.has(name) && !names.has(name.replace('default_', '')));
      expect(find('x.model/write', `[[1], {"${name}": [[0, 0, {}]]}]`)).toBeNull();
    }),
    { numRuns: countCases(2000) },
  );
});

test.each([
  ['many names', `[[1], {${'"tag_ids": [[6, 0, [1, 2]]], "name": "abc", '.repeat(3000)}"b": 1}]`],
  ['values within values', `[[1], ${'{"order_line": [[0, 0, '.repeat(100)}{}${']]}'.repeat(100)}]`],
  ['free links', `[[1], {${'"tax_ids": [[6, 0, [1, 2]], [4, 5]], '.repeat(3000)}"b": 1}]`],
  [
    'free links within free links',
    `[[1], ${'{"tax_ids": [[6, 0, ['.repeat(500)}${'1, '.repeat(3000)}1${']]]}'.repeat(500)}]`,
  ],
  ['ids', `[[${'1234, '.repeat(9000)}1], {"name": "a"}]`],
])('reads no byte more than a few times: %s', (_, params) => {
  const { positional, named } = readArguments(params);
  const { bytes, reads } = countReads(`${params}{}`);
  expect(
    findRelatedWrites('sale.order', 'write', { bytes, positional, named }, () => false).found,
  ).toBeNull();
  expect(reads()).toBeGreaterThan(0);
  expect(reads()).toBeLessThan(6 * params.length);
});

describe('records that a context names, on which a method acts, need their model', () => {
  const FORM = 'sale.advance.payment.inv';

  test.each([
    ['stock.backorder.confirmation/process', '{"button_validate_picking_ids": [1]}', ['stock.picking/write']],
    ['expiry.picking.confirmation/process', '{"button_validate_picking_ids": [1]}', ['stock.picking/write']],
    // A context reaches everything that the method calls.
    ['sale.order/action_confirm', '{"button_validate_picking_ids": [1]}', ['stock.picking/write']],
    ['stock.package/action_add_to_picking', '{"picking_id": 1}', ['stock.picking/write']],
    ['mrp.bom/action_set_bom_on_orderpoint', '{"orderpoint_id": 1}', ['stock.warehouse.orderpoint/write']],
    ['pos.confirmation.wizard/action_confirm', '{"orders": [1]}', ['pos.order/write']],
    ['sale.order.line/create', '{"link_to_project": 1}', ['project.project/write']],
    ['sale.order/create', '{"create_for_project_id": 1}', ['project.project/write']],
    ['sale.order/create', '{"create_for_task_id": 1}', ['project.task/write', 'sale.order/action_confirm']],
    [`${FORM}/create`, '{"active_ids": [1]}', ['sale.order/read']],
    [`${FORM}/create_invoices`, '{"active_id": 1}', ['sale.order/read']],
    [`${FORM}/create_invoices`, '{"active\\u005fids": [1]}', ['sale.order/read']],
    [`${FORM}/create_invoices`, '{"active_model": "sale.order", "active_ids": [1]}', ['sale.order/read']],
    // The form does not look at the model that the call names.
    [`${FORM}/create_invoices`, '{"active_model": "res.country", "active_ids": [1]}', ['sale.order/read']],
    [
      `${FORM}/create_invoices`,
      '{"active_model": "sale.order", "active_model": "res.country", "active_ids": [1]}',
      ['sale.order/read'],
    ],
    ['crm.lead.lost/action_lost_reason_apply', '{"active_ids": [1]}', ['crm.lead/read']],
    ['crm.merge.opportunity/create', '{"active_ids": [1]}', ['crm.lead/read']],
    ['pos.close.session.wizard/close_session', '{"active_ids": [1]}', ['pos.session/read']],
    // A form of several models needs the one that the call names.
    [
      'account.payment.register/create',
      '{"active_ids": [1]}',
      ['account.move/read', 'account.move.line/read'],
    ],
    [
      'account.payment.register/create',
      '{"active_model": "account.move", "active_ids": [1]}',
      ['account.move/read'],
    ],
    // A form of any model.
    ['sms.composer/action_send_sms', '{"active_model": "crm.lead", "active_id": 1}', ['crm.lead/read']],
  ])('%s %s', (name, context, methods) => {
    const params = name.endsWith('/create') ? '[{}]' : '[[1]]';
    expect(list(name, params, `{"context": ${context}}`)).toEqual(methods);
  });

  test.each([
    [`${FORM}/create_invoices`, '{"active_ids": [], "active_id": null}'],
    [`${FORM}/create_invoices`, '{"params": {"active_ids": [1]}}'],
    ['stock.picking/button_validate', '{"button_validate_picking_ids": [1]}'],
    ['stock.backorder.confirmation/process', '{"button_validate_picking_ids": false}'],
    ['sale.order/action_confirm', '{"active_id": 1, "active_ids": [1]}'],
    ['x_fleet.contract/x_confirm', '{"active_id": 1, "active_ids": [1]}'],
    [
      'sale.order/action_confirm',
      '{"lang": "de_DE", "tz": "Europe/Berlin", "uid": 2, "allowed_company_ids": [1], "default_team_id": 1}',
    ],
  ])('needs nothing: %s %s', (name, context) => {
    expect(list(name, '[[1]]', `{"context": ${context}}`)).toEqual([]);
  });

  test('without the name of the model, a form of any model is for policies of all models', () => {
    const context = '{"context": {"active_ids": [1]}}';
    expect(find('sms.composer/action_send_sms', '[[1]]', context)).toEqual({
      names: 'active_ids',
      by: 'active_model',
      isModel: false,
    });
    const allowsAll = findRelatedWrites(
      'sms.composer',
      'action_send_sms',
      readArguments('[[1]]', context),
      () => true,
    );
    expect(allowsAll.found).toBeNull();
  });

  test('each line of the table from the sources', () => {
    for (const line of CONTEXT_RECORDS.trim().split('\n')) {
      const [name = '', ...models] = line.split(' ');
      const model = name.endsWith(':') ? name.slice(0, -1) : 'x_fleet.contract';
      const member = name.endsWith(':') ? 'active_id' : name;
      const { found, others } = findRelatedWrites(
        model,
        'action_confirm',
        readArguments('[[1]]', `{"context": {"${member}": 1}}`),
        () => false,
      );
      const needed =
        models[0] === '*' ? [{ names: member }] : models.map((each) => ({ member, model: each }));
      // A member can run a method of its own, too.
      expect([found, ...others]).toEqual(
        expect.arrayContaining(needed.map((each) => expect.objectContaining(each))),
      );
    }
  });

  test('a context with too many members is refused', () => {
    const members = Array.from({ length: 1001 }, (_, index) => `"a${index}": 1`);
    expect(find('sale.order/action_confirm', '[[1]]', `{"context": {${members}}}`)).toBe(UNDETERMINED);
  });
});

test('the members of a channel need an entry, as those who may read it', () => {
  for (const model of ['discuss.channel', 'mail.channel'])
    for (const command of ['[4, 3]', '[3, 3]', '[6, 0, [3]]', '[5]'])
      expect(list(`${model}/write`, `[[1], {"channel_partner_ids": [${command}]}]`)).toEqual([
        `${model}.member/write`,
      ]);
});

test('who follows a record by `message_subscribe` needs the entry of followers', () => {
  const followers = ['mail.followers/write'];
  expect(list('sale.order/message_subscribe', '[[1], [5]]')).toEqual(followers);
  expect(list('sale.order/message_subscribe', '[[1]]', '{"partner_ids": [5]}')).toEqual(followers);
  expect(list('sale.order/message_subscribe', '[[1]]', '{"channel_ids": [5]}')).toEqual(followers);
  expect(list('sale.order/message_subscribe', '[[1]]', '{"partner_ids": []}')).toEqual([]);
});
