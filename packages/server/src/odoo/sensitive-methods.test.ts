import { describe, expect, test } from 'vitest';
import { findSensitivity, renderSensitiveMethods } from './sensitive-methods.ts';

describe('must be named', () => {
  test.each([
    'res.users/authenticate',
    'res.users/change_password',
    'res.users/action_reset_password',
    'res.users/api_key_wizard',
    'res.users/write',
    'res.users/create',
    'res.users/web_save',
    'res.users/action_totp_disable',
    'res.users.apikeys/generate',
    'res.users.apikeys/read',
    'res.users.apikeys.description/make_key',
    'res.users.identitycheck/run_check',
    'change.password.wizard/change_password_button',
    'auth_totp.wizard/create',
    'ir.config_parameter/get_param',
    'ir.config_parameter/search_read',
    'ir.mail_server/read',
    'mail.ice.server/read',
    'payment.link.wizard/create',
    'res.users.settings/read',
    'ir.actions.server/run',
    'ir.actions.server/write',
    'ir.actions.report/render_qweb_pdf',
    'ir.cron/method_direct_trigger',
    'ir.cron/read',
    'base.automation/create',
    'base.language.import/import_lang',
    'base.module.upgrade/upgrade_module',
    'ir.module.module/button_immediate_install',
    'ir.model.access/write',
    'ir.model.fields/create',
    'ir.rule/unlink',
    'res.groups/write',
    'ir.ui.view/write',
    'mail.template/write',
    'mail.template/send_mail',
    'website/write',
    'website.page/write',
    'website.menu/create',
    'theme.ir.ui.view/create',
    'theme.utils/enable_view',
    'theme.ir.asset/write',
    'ir.asset/create',
    'ir.qweb/render',
    'account.tax/write',
    'hr.salary.rule/create',
    'queue.job/requeue',
    'sms.composer/create',
    'mail.alias/write',
    'base.partner.merge.automatic.wizard/action_merge',
    'base_import.import/execute_import',
    'res.partner/export_data',
    'res.partner/load',
    'res.partner/mapped',
    'sale.order/copy_data',
    'res.partner/signup_get_auth_param',
    'sale.order/get_portal_url',
    'sale.order/action_preview_sale_order',
    'account.move/preview_invoice',
    'x.custom/get_access_token',
    'x.custom/authenticate',
  ])('%s', (name) => {
    const [model = '', method = ''] = name.split('/');
    expect(findSensitivity(model, method)).toMatch(/^(can|reaches) /);
  });
});

test.each([
  'res.partner/read',
  'res.partner/write',
  'res.users/read',
  'res.users/search_read',
  'res.users/context_get',
  'res.users/has_group',
  'ir.actions.server/search_read',
  'ir.model/fields_get',
  'ir.model.fields/search_read',
  'ir.attachment/create',
  'sale.order/action_confirm',
  'website/search_read',
  'website.visitor/write',
  'account.tax.group/write',
  'ir.asset/read',
  // Not the model of the table: patterns are of the whole name.
  'x.ir.cron/read',
  'res.usersx/write',
])('need not be named: %s', (name) => {
  const [model = '', method = ''] = name.split('/');
  expect(findSensitivity(model, method)).toBeNull();
});

test('the page lists every row', () => {
  const page = renderSensitiveMethods();
  expect(page).toContain('| `ir.actions.*`, ');
  expect(page).toContain('`res.users.apikeys*`');
});
