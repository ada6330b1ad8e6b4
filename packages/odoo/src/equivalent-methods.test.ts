import { describe, expect, test } from 'vitest';
import { readArguments } from '../test/read-arguments.ts';
import { listEquivalents } from './equivalent-methods.ts';
import { WRITTEN_METHODS } from './written-methods-data.ts';

test.each([
  ['[[], {"name": "a"}, {}]', '{}', ['create']],
  ['[[ ], {"name": "a"}, {}]', '{}', ['create']],
  ['[false, {"name": "a"}, {}]', '{}', ['create']],
  ['[]', '{"vals": {"name": "a"}}', ['create']],
  ['[[1], {"name": "a"}, {}]', '{}', ['write']],
  ['[]', '{"ids": [1], "vals": {"name": "a"}}', ['write']],
  ['[0, {"name": "a"}, {}]', '{}', ['create', 'write']],
  ['[[], {"name": "a"}, {}]', '{"ids": [1]}', ['create', 'write']],
])('web_save creates without ids: %s %s', (params, keyword, methods) => {
  expect(listEquivalents('res.partner', 'web_save', readArguments(params, keyword))).toEqual(methods);
});

test('without arguments, web_save can do both', () => {
  expect(listEquivalents('res.partner', 'web_save', null)).toEqual(['create', 'write']);
});

test.each([
  ['action_archive', ['write']],
  ['load', ['create', 'write']],
  ['action_confirm', []],
  ['toString', []],
])('%s', (method, methods) => {
  expect(listEquivalents('sale.order', method, readArguments('[[1]]'))).toEqual(methods);
});

test.each([
  ['{}', []],
  ['{"ids": [1], "context": {}}', []],
  ['{"lost_reason_id": 1}', ['write']],
  ['{"name": "a", "user_id": 6}', ['write']],
])('action_set_lost writes its named arguments: %s', (keyword, methods) => {
  expect(listEquivalents('crm.lead', 'action_set_lost', readArguments('[[1]]', keyword))).toEqual(methods);
});

test.each([
  ['crm.lead', 'merge_opportunity', ['write', 'unlink']],
  ['crm.lead', 'set_sequence_top', ['write']],
  ['project.project', 'toggle_favorite', ['write']],
  ['product.template', 'website_publish_button', ['write']],
  ['hr.job', 'create_and_get_website_url', ['create']],
  ['crm.lead', 'activity_schedule', ['mail.activity/create']],
  ['crm.lead', 'activity_feedback', ['mail.activity/write', 'mail.activity/unlink']],
  ['crm.lead', 'activity_schedule_with_view', ['mail.activity/create']],
  ['crm.lead', 'message_post', ['mail.message/create']],
  ['crm.lead', 'message_post_with_view', ['mail.message/create']],
  ['crm.lead', 'message_post_with_template', ['mail.message/create']],
  ['crm.lead', 'message_post_with_source', ['mail.message/create']],
  ['crm.lead', 'message_mail_with_source', ['mail.message/create', 'mail.mail/create']],
  ['crm.lead', 'message_subscribe', ['mail.followers/create', 'mail.followers/write']],
  ['crm.lead', 'message_unsubscribe', ['mail.followers/unlink']],
  ['calendar.event', 'action_mass_deletion', ['unlink']],
  ['calendar.filters', 'unlink_from_partner_id', ['unlink']],
  ['calendar.event', 'change_attendee_status', ['calendar.attendee/write']],
  ['mail.activity', 'unlink_w_meeting', ['unlink', 'calendar.event/unlink']],
  ['loyalty.program', 'create_from_template', ['create']],
  ['sale.order', 'save_new_custom_content', ['write']],
])('%s %s has the effect of %j', (model, method, methods) => {
  expect(listEquivalents(model, method, null)).toEqual(methods);
  expect(listEquivalents('x.custom', method, null)).toEqual(methods);
});

describe('methods of Odoo Community that write values of their caller', () => {
  test.each<[string, string, string[]]>([
    ['res.partner', 'update_address', ['write']],
    ['res.partner', 'find_or_create', ['create']],
    ['res.partner', 'create_from_ui', ['create', 'write']],
    ['digest.digest', 'action_set_periodicity', ['write']],
    ['crm.lead', 'update_lead_portal', ['write']],
    ['crm.lead', 'create_opp_portal', ['create']],
    ['crm.lead', 'convert_opportunity', ['write']],
    ['crm.team', 'update_invoiced_target', ['write']],
    ['event.event', 'toggle_website_menu', ['write']],
    ['forum.post', 'close', ['write']],
    ['discuss.channel', 'channel_rename', ['write']],
    ['restaurant.floor', 'rename_floor', ['write']],
    ['ir.filters', 'create_or_replace', ['create', 'write']],
    ['hr.leave', 'split_leave', ['create', 'write']],
    ['lunch.order', 'update_quantity', ['write']],
    ['mrp.workorder', 'set_state', ['write']],
    ['account.move', 'set_moves_checked', ['write']],
    ['restaurant.floor', 'sync_from_ui', ['create']],
    ['restaurant.table', 'create_from_ui', ['create', 'write']],
    ['discuss.channel.member', 'set_custom_notifications', ['write']],
    ['fleet.vehicle', 'create_driver_history', ['fleet.vehicle.assignation.log/create']],
    ['pos.session', 'post_closing_cash_details', ['write']],
    ['payment.transaction', 'action_refund', ['create']],
    ['product.template', 'create_product_variant', ['product.product/create']],
    ['product.template', 'create_product_variant_from_pos', ['product.product/create']],
    ['account.journal', 'set_bank_account', ['res.partner.bank/create']],
    ['slide.channel', 'action_add_member', ['slide.channel.partner/create']],
    ['sale.order', 'set_delivery_line', ['sale.order.line/create', 'write']],
    ['website.menu', 'save', ['website.event.menu/create']],
  ])('%s %s', (model, method, methods) => {
    expect(listEquivalents(model, method, null)).toEqual(expect.arrayContaining(methods));
    expect(listEquivalents(model, method, readArguments('[[1], 2]'))).toEqual(
      expect.arrayContaining(methods),
    );
  });

  test.each([
    ['event.booth', 'action_confirm', '[[1]]', '{}', []],
    ['event.booth', 'action_confirm', '[[1], {"partner_id": 3}]', '{}', ['write']],
    ['event.booth', 'action_confirm', '[[1]]', '{"additional_values": {"partner_id": 3}}', ['write']],
    ['event.booth', 'action_confirm', '[]', '{"ids": [1], "context": {}}', []],
    ['crm.lead', 'assign_partner', '[[1]]', '{}', []],
    // Its default is a value.
    ['account.move', 'set_moves_checked', '[[1]]', '{}', ['write']],
    ['crm.lead', 'assign_partner', '[[1], 3]', '{}', ['write']],
    ['sale.order', 'action_confirm', '[[1]]', '{"context": {"a": 1}}', []],
    ['sale.order', 'action_confirm', '[[1], {"a": 1}]', '{}', []],
  ])(
    'values that can be left out count if they are given: %s %s %s %s',
    (model, method, params, keyword, methods) => {
      expect(listEquivalents(model, method, readArguments(params, keyword))).toEqual(methods);
    },
  );

  test('each line of the table has a model, methods and targets', () => {
    const words = WRITTEN_METHODS.trim()
      .split('\n')
      .flatMap((line) => line.split(' ').slice(1));
    expect(words.length).toBeGreaterThan(100);
    for (const word of words) expect(word).toMatch(/^[a-z]\w*\??=(([a-z_0-9.]+\/)?(create|write)(,|$))+$/);
  });
});

test.each([
  ['x_update', '[[1]]', '{}', []],
  ['x_update', '[[1], {"name": "a"}]', '{}', ['create', 'write']],
  ['x_update', '[[1]]', '{"vals": {"name": "a"}}', ['create', 'write']],
  ['x_update', '[[1], [{"name": "a"}]]', '{}', ['create', 'write']],
  ['x_update', '[[1], [false, {"name": "a"}]]', '{}', ['create', 'write']],
  ['x_update', '[[1], [[0, 0, {"name": "a"}]]]', '{}', ['create', 'write']],
  ['x_update', '[[1]]', '{"row": {"name": "a"}}', ['create', 'write']],
  ['x_update', '[]', '{"ids": [1], "rows": [{"name": "a"}], "context": {}}', ['create', 'write']],
  ['x_update', '[[1]]', '{"values": null, "names": ["a"], "context": {"a": 1}}', []],
  ['x_update', '[[1], 5, ["a"]]', '{"context": {"a": 1}}', []],
  ['get_gantt_data', '[[], ["user_id"], {}]', '{"read_specification": {"name": {}}}', []],
  ['set_priority', '[[1], "3"]', '{}', ['write']],
  ['action_set_priority', '[[1]]', '{"priority": "3"}', ['write']],
  ['update_address', '[[1], "a"]', '{}', ['write']],
  ['action_set_won', '[[1]]', '{"context": {}}', []],
])('of a method that no table knows, the arguments tell: %s %s %s', (method, params, keyword, methods) => {
  expect(listEquivalents('x.custom', method, readArguments(params, keyword))).toEqual(methods);
});
