/**
 * Tests what the tables of Odoo contain: methods that everybody calls, dangerous methods, and methods of other modules.
 */
import { describe, expect, test } from 'vitest';
import { findUnknown, listMethods, listModels } from './known-methods.ts';
import { findSensitivity } from './sensitive/sensitive-methods.ts';

// biome-ignore format: a table
const ORM = [
  'search_read', 'read', 'search', 'search_count', 'name_search', 'fields_get', 'create', 'write', 'unlink', 'copy',
  'read_group', 'web_read', 'web_save', 'web_search_read', 'web_read_group', 'formatted_read_group', 'default_get',
  'onchange', 'name_create', 'name_get', 'get_views', 'action_archive', 'action_unarchive', 'toggle_active',
];
/** Methods of daily business. */
const BUSINESS: Record<string, readonly string[]> = {
  'account.move': [
    'action_post',
    'button_draft',
    'button_cancel',
    'action_reverse',
    'action_register_payment',
  ],
  'account.move.reversal': ['reverse_moves'],
  'account.payment': ['action_post', 'action_draft', 'action_cancel'],
  'account.payment.register': ['action_create_payments'],
  'crm.lead': [
    'action_set_won',
    'action_set_lost',
    'convert_opportunity',
    'message_post',
    'activity_schedule',
  ],
  'crm.lead2opportunity.partner': ['action_apply'],
  'hr.expense.sheet': ['action_submit_sheet'],
  'hr.leave': ['action_approve', 'action_refuse'],
  'mrp.production': ['action_confirm', 'button_mark_done', 'action_assign'],
  'product.template': ['create_product_variant'],
  'project.task': ['message_post', 'message_subscribe', 'activity_feedback'],
  'purchase.order': [
    'button_confirm',
    'button_approve',
    'button_cancel',
    'button_draft',
    'action_create_invoice',
  ],
  'res.partner': ['message_post', 'find_or_create', 'geo_localize'],
  'sale.advance.payment.inv': ['create_invoices'],
  'sale.order': ['action_confirm', 'action_cancel', 'action_draft', 'action_quotation_send', 'message_post'],
  'stock.picking': ['action_confirm', 'action_assign', 'button_validate', 'action_cancel'],
  'product.pricelist': ['get_product_price'],
  'stock.backorder.confirmation': ['process', 'process_cancel_backorder'],
  'stock.quant': ['action_apply_inventory'],
  'stock.return.picking': ['create_returns'],
};

/** Methods that reach more than the records of the call, or show values of these records that the policy denies. */
const REACHING: readonly (readonly [model: string, method: string])[] = [
  ['crm.lead', 'merge_opportunity'],
  ['calendar.event', 'action_join_meeting'],
  ['hr.employee', 'web_resequence'],
  ['mail.activity', 'web_resequence'],
  ['mail.message', 'mark_all_as_read'],
  ['pos.order', 'search_paid_order_ids'],
  ['product.product', 'get_product_info_pos'],
  ['mail.activity', 'unlink_w_meeting'],
  ['crm.merge.opportunity', 'action_merge'],
  ['hr.attendance', 'action_try_kiosk'],
  ['account.move', 'action_activate_currency'],
  ['account.move', 'button_hash'],
  ['crm.lead.pls.update', 'action_update_crm_lead_probabilities'],
  ['publisher_warranty.contract', 'update_notification'],
  ['hr.leave.report.calendar', 'action_approve'],
  ['hr.leave.report.calendar', 'action_validate'],
  ['res.company', 'action_open_website_sale_onboarding_payment_provider'],
  ['project.task.type.delete.wizard', 'action_archive'],
  ['hr.employee', 'get_avatar_card_data'],
  ['hr.employee', 'get_barcodes_and_pin_hashed'],
  ['res.currency', 'get_currencies_for_spreadsheet'],
];

test.each(REACHING)('%s %s must be named', (model, method) => {
  expect(findUnknown(model, method)).toMatch(/reaches more/);
});

describe('are known', () => {
  test.each(Object.entries(BUSINESS))('the everyday methods of %s', (model, methods) => {
    for (const method of [...ORM, ...methods]) {
      expect([method, findUnknown(model, method)]).toEqual([method, null]);
      expect([method, findSensitivity(model, method)]).toEqual([method, null]);
    }
  });

  test('methods of the ORM and of mixins on models that no table has', () => {
    for (const method of [...ORM, 'message_post', 'activity_schedule', 'message_subscribe'])
      expect([method, findUnknown('x_fleet.contract', method)]).toEqual([method, null]);
  });
});

describe('are not known', () => {
  test.each([
    ['crm.lead', 'x_sync'],
    ['crm.lead', 'action_generate_ai_summary'],
    ['x_fleet.contract', 'action_confirm'],
    ['sale.order', 'toString'],
    ['constructor', '__proto__'],
    ['sale.order', 'action_confirm '],
    ['sale.order', '-model'],
    ['sale.order', ''],
    ['*', '*'],
    ['base', '-model'],
    ['', 'action_confirm'],
  ])('methods of other modules, and texts that are no names: %s %s', (model, method) => {
    expect(findUnknown(model, method)).toBe('is not known to keep to records of its model');
  });

  test.each([
    ['crm.lead', 'find_or_create_record', 'can reach a model that the call or the record names'],
    ['x_fleet.contract', 'find_or_create_record', 'can reach a model that the call or the record names'],
    ['mail.activity', 'get_activity_data', 'can reach a model that the call or the record names'],
    ['mail.activity', 'action_feedback', expect.stringContaining('the record')],
    ['spreadsheet.dashboard', 'get_display_names_for_spreadsheet', expect.stringContaining('the call')],
    ['sale.order', 'rating_send_request', expect.stringContaining('the call')],
    ['sale.order', 'message_notify', expect.stringContaining('the call')],
    ['payment.transaction', 'execute_callback', expect.stringContaining('the record names')],
    ['res.partner', 'get_model_definitions', expect.stringContaining('the call')],
    ['sale.order', 'with_user', expect.stringContaining('is not for calls')],
    ['purchase.order', 'get_confirm_url', expect.stringContaining('reaches more')],
  ])('methods that reach more than their records: %s %s', (model, method, reason) => {
    expect(findUnknown(model, method)).toEqual(reason);
  });
});

const CREDENTIAL = 'returns tokens, keys, or links that open a record or a service';
const READ_ELSEWHERE = 'returns values of records of other models';
const GUARDED = 'changes users, rights, companies, bank accounts, mail aliases or settings';
const DOMAIN = 'searches, sorts or groups by fields that the call names';
const REMOVAL = 'changes records of another model that the call selects';

test.each([
  ['project.project', 'action_customer_preview', CREDENTIAL],
  ['project.task', 'action_project_sharing_open_subtasks', CREDENTIAL],
  ['survey.survey', 'action_start_survey', CREDENTIAL],
  ['survey.user_input', 'action_print_answers', CREDENTIAL],
  ['res.partner', 'google_map_img', CREDENTIAL],
  ['res.company', 'google_map_img', CREDENTIAL],
  ['x_fleet.contract', 'get_portal_url', CREDENTIAL],
  ['x_fleet.contract', 'message_get_followers', READ_ELSEWHERE],
  ['crm.lead', 'message_get_followers', READ_ELSEWHERE],
  ['mail.channel', 'channel_fetch_preview', READ_ELSEWHERE],
  ['res.partner', 'im_search', READ_ELSEWHERE],
  ['pos.session', 'get_closing_control_data', READ_ELSEWHERE],
  ['pos.config', 'get_limited_partners_loading', READ_ELSEWHERE],
  ['project.project', 'get_panel_data', READ_ELSEWHERE],
  ['project.project', 'get_milestones', READ_ELSEWHERE],
  ['sale.order.line', 'read_converted', READ_ELSEWHERE],
  ['account.journal', 'get_bar_graph_datas', READ_ELSEWHERE],
  ['im_livechat.report.channel', 'action_open_discuss_channel_view', DOMAIN],
  ['mailing.mailing', 'action_fetch_favorites', DOMAIN],
  ['account.journal', 'set_bank_account', GUARDED],
  ['hr.employee', 'action_toggle_primary_bank_account_trust', GUARDED],
  ['hr.recruitment.source', 'create_alias', GUARDED],
  ['portal.wizard.user', 'action_grant_access', GUARDED],
  ['hr.employee.delete.wizard', 'action_confirm_delete', REMOVAL],
  ['stock.package', 'action_add_to_picking', REMOVAL],
])('`*` does not stand for %s %s', (model, method, reason) => {
  expect(findUnknown(model, method)).toBe(reason);
});

test('the list of a model says of each method what a look-up says', () => {
  expect(listModels().length).toBeGreaterThan(900);
  for (const model of [...listModels(), 'x_fleet.contract']) {
    for (const [method, reason] of listMethods(model)) {
      expect(method).toMatch(/^[a-zA-Z]\w*$/);
      expect(findUnknown(model, method)).toBe(reason);
    }
  }
});
