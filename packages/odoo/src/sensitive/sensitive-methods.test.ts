import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { listContextEffects } from './context-effects.ts';
import { listCredentialFields } from './credential-fields.ts';
import { findMember } from './member-names.ts';
import { SENSITIVE_ARGUMENTS, SENSITIVE_CONTEXT, SENSITIVE_MEMBERS } from './sensitive-members.ts';
import { findSensitivity } from './sensitive-methods.ts';
import { renderSensitiveMethods } from './sensitive-page.ts';
import { SENSITIVE_RULES, SENSITIVE_TABLE } from './sensitive-table.ts';
import { listWrittenFields } from './written-models.ts';

/** Models that inherit by delegation, from the tables of scripts/odoo-tables. */
const INHERITS: { model: string; parent: string; versions: string }[] = JSON.parse(
  readFileSync(new URL('../../test/data/inherits-14-to-19.json', import.meta.url), 'utf8'),
);

test.each(INHERITS)(
  '$model is as sensitive as $parent, which it extends by delegation',
  ({ model, parent }) => {
    // A mixin of ordinary models. Its members are in the table of members.
    if (model === 'mail.alias.mixin') {
      expect(findMember('alias_name', 'crm.team')?.model).toBe(parent);
      return;
    }
    for (const method of ['create', 'write', 'unlink', 'web_save', 'read', 'search_read'])
      if (findSensitivity(parent, method) !== null)
        expect([method, findSensitivity(model, method) !== null]).toEqual([method, true]);
  },
);

describe('a policy must name', () => {
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
    'hr.bank.account.allocation.wizard.line/write',
    'payment.refund.wizard/action_refund',
    'payment.capture.wizard/action_capture',
    'account.batch.payment/initiate_payment',
    'hr.expense.stripe.topup.wizard/action_topup',
    'hr.expense.stripe.cardholder.wizard/action_save_cardholder',
    'website.robots/action_save',
    'project.project/action_customer_preview',
    'res.partner/google_map_img',
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
    'base.document.layout/create',
    'task.share.wizard/create',
    'mail.scheduled.message/create',
    'snailmail.confirm.invoice/write',
    'res.company/install_l10n_modules',
    'calendar.attendee/get_attendee_detail',
    'sale.payment.provider.onboarding.wizard/create',
    'onboarding.onboarding.step/action_open_step_chart_of_accounts',
    'ir.asset/create',
    'ir.qweb/render',
    'account.tax/write',
    'hr.salary.rule/create',
    'queue.job/requeue',
    'sms.composer/create',
    'mail.alias/write',
    'base.partner.merge.automatic.wizard/action_merge',
    'base_import.import/execute_import',
    'res.partner/mapped',
    'sale.order/copy_data',
    'res.partner/signup_get_auth_param',
    'sale.order/get_portal_url',
    'sale.order/action_preview_sale_order',
    'account.move/preview_invoice',
    'x.custom/get_access_token',
    'x.custom/authenticate',
    // The mail gateway, on any model with messages.
    'mail.thread/message_process',
    'crm.lead/message_route',
    'crm.lead/message_new',
    'res.partner/message_update',
    'mail.alias.domain/write',
    // Records that belong to messages of any record.
    'mail.tracking.value/create',
    'mail.notification/unlink',
    'mail.message.reaction/create',
    'mail.message.translation/write',
    'mail.link.preview/write',
    'mail.message.link.preview/create',
    'mail.gateway.allowed/create',
    // Templates that a call names.
    'res.partner/message_post_with_view',
    'sale.order/message_post_with_template',
    'sale.order/message_post_with_source',
    'sale.order/message_mail_with_source',
    'crm.lead/activity_send_mail',
    'res.partner/qweb_render_view',
    // Reads of models that hold credentials.
    'auth.api.key/read',
    'auth.api.key.group/search_read',
    'auth.api.client/read',
    'pos.payment.method/search_read',
    'delivery.carrier/read',
    'auth.saml.provider/read',
    'auth.saml.token/read',
    'res.users.saml/read',
    'auth.jwt.validator/read',
    'auth.oauth.provider/search_read',
    'auth.oauth.multi.token/read',
    'auth.verification.code/read',
    'auth_sms.code/read',
    'sms.provider/read',
    'oauth.provider.client/read',
    'res.users.role/read',
    'res.users.role.line/search_read',
    'res.users.pass.history/read',
    'res.users.authenticator/read',
    'vault/read',
    'vault.entry/search_read',
    'vault.share/read',
    'keychain.account/read',
    'encrypted.data/read',
    'webservice.backend/read',
    'storage.backend/read',
    'fs.storage/read',
    'external.system/read',
    'db.backup/read',
    'base.external.dbsource/execute',
    'payment.provider.onboarding.wizard/read',
    'account_edi_proxy_client.user/read',
    'l10n_es_edi.certificate/read',
    'l10n_eg_edi.thumb.drive/read',
    'certificate.key/read',
    'mail.guest/read',
    'mail.push.device/read',
    'mail.mail/read',
    'mail.mail/send',
    'res.device.log/read',
    'base.automation/read',
    'calendar.provider.config/read',
    'sms.twilio.account.manage/read',
    'res.company.ldap/read',
    'ir.profile/read',
    'spreadsheet.dashboard.share/read',
    'x.module.credentials/read',
    'x.api.key/search_read',
    'x.service.token/read',
    // Others.
    'res.users/check_super',
    'x.custom/impersonate_user',
    'ir.ui.menu/write',
    'ir.access/write',
    'pos.session/load_data',
    'pos.session/get_pos_ui_res_users_by_params',
    'data_recycle.model/create',
    'auditlog.log.line/read',
    'ir.demo/install_demo',
    'endpoint.endpoint/write',
    'project.share.wizard/action_share_record',
    // Users can be created from these records.
    'hr.employee/action_create_users',
    'hr.employee/action_create_user',
    'x.custom/create_user_from_contact',
    // Translations are values of any model, including views and templates.
    'ir.translation/write',
    'ir.translation/create',
    // Texts of these records are templates.
    'digest.tip/write',
    'survey.invite/create',
    'card.template/write',
    'l10n.es.aeat.certificate/read',
    'web_editor.assets/make_scss_customization',
    'html_editor.assets/save_asset',
    'website.assets/reset_asset',
    'card.campaign/create',
    'slide.channel.invite/create',
    'sale.order.cancel/create',
    'applicant.send.mail/create',
    'candidate.send.mail/create',
    'fleet.vehicle.send.mail/action_send',
    'pos.config/install_pos_restaurant',
    'sale.order/load_sale_order_from_pos',
    'pos.order/read_pos_data',
    'applicant.get.refuse.reason/create',
    'calendar.popover.delete.wizard/create',
    'account.invoice.send/create',
    'account.tour.upload.bill/create',
    'mail.group.message/write',
    'account_followup.manual_reminder/create',
    'request.appraisal/create',
    'appraisal.ask.feedback/create',
    // Automations with additional fields.
    'sale.order.alert/create',
    'sale.subscription.alert/write',
    // The call names the model or the template.
    'crm.lead/find_or_create_record',
    'sale.order/find_or_create_record',
    'mail.activity/get_activity_data',
    'spreadsheet.dashboard/get_display_names_for_spreadsheet',
    'project.task/rating_send_request',
    // Attachments with additional fields.
    'product.document/create',
    'quotation.document/write',
    'mrp.document/create',
    // HTML that Odoo does not clean.
    'blog.post/write',
    'blog.blog/create',
    'product.ribbon/web_save',
    // Found by the tables of Odoo's sources.
    'account.chart.template/create_record_with_xmlid',
    'sale.order.template/create_or_update_translations',
    'ir.http/binary_content',
    'event.event/mail_attendees',
    'pos.config/get_records',
    'pos.config/read_config_open_orders',
    'pos.config/notify_synchronisation',
    'pos.session/log_partner_message',
    'mail.group/message_post',
    'mail.message/create',
    'mail.message/write',
    'report.account_test.report_accounttest/execute_code',
    'crm.iap.lead.helpers/notify_no_more_credit',
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
  'product.document/search_read',
  'blog.post/search_read',
  'sale.order/action_confirm',
  'website/search_read',
  'website.visitor/write',
  'account.tax.group/write',
  'ir.asset/read',
  'ir.ui.menu/search_read',
  'ir.attachment/read',
  'mail.message/search_read',
  'sale.order/message_post',
  'crm.lead/activity_schedule',
  'sale.order/message_subscribe',
  'payment.transaction/read',
  'payment.method/read',
  'pos.order/read',
  'pos.session/read',
  'stock.picking/read',
  'project.task/write',
  'account.journal/read',
  'res.company/read',
  'mail.template/read',
  'hr.employee/write',
  'hr.employee/create',
  'hr.training.certificate/write',
  'product.certificate/search_read',
  'employee.assets/write',
  'digest.tip/search_read',
  'ir.translation/search_read',
  'account.move.send.wizard/action_send_and_print',
  // Patterns match the whole name of a model.
  'x.ir.cron/read',
  'res.usersx/write',
])('a policy need not name: %s', (name) => {
  const [model = '', method = ''] = name.split('/');
  expect(findSensitivity(model, method)).toBeNull();
});

test('a repeated name gets the same answer', () => {
  for (let turn = 0; turn < 2; turn++) {
    expect(findSensitivity('ir.cron', 'read')).not.toBeNull();
    expect(findSensitivity('res.country', 'read')).toBeNull();
    expect(findSensitivity('res.country', 'mapped')).not.toBeNull();
  }
  // More names than the cache keeps.
  for (let index = 0; index < 10_000; index++) findSensitivity(`x.model${index}`, `method${index}`);
  expect(findSensitivity('ir.cron', 'read')).not.toBeNull();
  expect(findSensitivity('res.country', 'read')).toBeNull();
});

test('every row has a rule, a reason and versions', () => {
  for (const { rule, models, methods, why, versions } of SENSITIVE_TABLE) {
    expect(SENSITIVE_RULES[rule].reason).toMatch(/^(can|reaches) /);
    expect(models.length).toBeGreaterThan(0);
    expect(methods.length).toBeGreaterThan(0);
    expect(why).not.toBe('');
    expect(versions).toMatch(/\d|OCA|any module/);
  }
});

test('no pattern occurs twice', () => {
  const pairs = SENSITIVE_TABLE.flatMap(({ models, methods }) =>
    models.flatMap((model) =>
      (methods === 'writes' ? ['writes'] : methods).map((method) => `${model} ${method}`),
    ),
  );
  expect(pairs.filter((pair, index) => pairs.indexOf(pair) !== index)).toEqual([]);
});

test('the page lists every rule, model, method and member', () => {
  const page = renderSensitiveMethods();
  for (const { models, methods } of SENSITIVE_TABLE) {
    for (const name of [...models, ...(methods === 'writes' ? [] : methods)])
      expect(page).toContain(`\`${name}\``);
  }
  for (const { meaning } of Object.values(SENSITIVE_RULES)) expect(page).toContain(meaning);
  for (const { members, model } of SENSITIVE_MEMBERS)
    for (const name of [...members, model]) expect(page).toContain(`\`${name}\``);
  for (const [model, fields] of listWrittenFields())
    for (const name of [model, ...fields.keys()]) expect(page).toContain(`\`${name}\``);
  for (const [model, fields] of listCredentialFields())
    for (const name of [model, ...fields]) expect(page).toContain(`\`${name}\``);
  for (const { names, model } of SENSITIVE_ARGUMENTS)
    for (const name of [...names, model]) expect(page).toContain(`\`${name}\``);
  for (const [member, effects] of listContextEffects())
    for (const { model, method } of effects)
      expect(page).toMatch(new RegExp(`\\| \`${member}\` \\|.*\`${method}\` of \`${model}\``));
  for (const { name, methods = '', model } of SENSITIVE_CONTEXT)
    expect(page).toContain(`| \`${name}\` | \`${methods}*\` | \`${model}\` |`);
});
